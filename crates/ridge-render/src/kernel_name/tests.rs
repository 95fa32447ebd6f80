//! Names below come from recorded reports and traces of PyTorch and HeCBench programs.
use super::*;
use proptest::prelude::*;

/// The short name at three widths, one a line, and the base name before them.
fn shown(name: &str) -> String {
    let mut lines = vec![base_name(name).to_owned()];
    for columns in [30, 60, 100] {
        let short = shorten(name, columns, Charset::Unicode);
        assert!(width(&short) <= columns, "{short}");
        lines.push(format!("{columns:3} {short}"));
    }
    lines.join("\n")
}

#[test]
fn fill() {
    let name = "void at::native::vectorized_elementwise_kernel<(int)2, at::native::FillFunctor<long>, \
         std::array<char *, (unsigned long)1>>(int, T2, T3)";
    insta::assert_snapshot!(shown(name), @"
    vectorized_elementwise_kernel
     30 vectorized_elementwise_kernel
     60 vectorized_elementwise_kernel<2, FillFunctor<…>, array<…>>
    100 at::native::vectorized_elementwise_kernel<2, at::native::FillFunctor<long>, std::array<char*, 1>>
    ");
}

#[test]
fn layer_norm() {
    let name = "void at::native::<unnamed>::vectorized_layer_norm_kernel<c10::BFloat16, float, (bool)0>(int, T2, \
         const T1 *, const T1 *, const T1 *, T2 *, T2 *, T1 *)";
    insta::assert_snapshot!(shown(name), @"
    vectorized_layer_norm_kernel
     30 vectorized_layer_norm_kernel
     60 at::native::vectorized_layer_norm_kernel<BFloat16, float, 0>
    100 at::native::vectorized_layer_norm_kernel<c10::BFloat16, float, 0>
    ");
}

#[test]
fn softmax() {
    let name = "void at::native::<unnamed>::cunn_SoftMaxForwardReg<c10::BFloat16, float, c10::BFloat16, \
         at::native::<unnamed>::SoftMaxForwardEpilogue, long, (int)4>(T3 *, const T1 *, T5)";
    insta::assert_snapshot!(shown(name), @"
    cunn_SoftMaxForwardReg
     30 cunn_SoftMaxForwardReg<…>
     60 cunn_SoftMaxForwardReg<BFloat16, float, BFloat16,…>
    100 at::native::cunn_SoftMaxForwardReg<BFloat16, float, BFloat16, SoftMaxForwardEpilogue, long, 4>
    ");
}

#[test]
fn gelu() {
    let name = "void at::native::vectorized_elementwise_kernel<(int)8, \
         at::native::GeluCUDAKernelImpl(at::TensorIteratorBase &, at::native::GeluType)::[lambda() (instance \
         2)]::operator ()() const::[lambda() (instance 4)]::operator ()() const::[lambda(c10::BFloat16) \
         (instance 1)], std::array<char *, (unsigned long)2>>(int, T2, T3)";
    insta::assert_snapshot!(shown(name), @"
    vectorized_elementwise_kernel
     30 vectorized_elementwise_kernel
     60 vectorized_elementwise_kernel<8, GeluCUDAKernelImpl::…,…>
    100 vectorized_elementwise_kernel<8, GeluCUDAKernelImpl::…::{lambda(BFloat16)#1}, array<char*, 2>>
    ");
}

#[test]
fn sum() {
    let name = "void at::native::reduce_kernel<(int)512, (int)1, at::native::ReduceOp<c10::BFloat16, \
         at::native::func_wrapper_t<c10::BFloat16, at::native::sum_functor<c10::BFloat16, float, \
         c10::BFloat16>::operator ()(at::TensorIterator &)::[lambda(float, float) (instance 1)]>, unsigned \
         int, c10::BFloat16, (int)4, (int)8>>(T3)";
    insta::assert_snapshot!(shown(name), @"
    reduce_kernel
     30 reduce_kernel<512, 1,…>
     60 reduce_kernel<512, 1, ReduceOp<…>>
    100 reduce_kernel<512, 1, ReduceOp<BFloat16, func_wrapper_t<…>, unsigned int, BFloat16, 4, 8>>
    ");
}

#[test]
fn copy() {
    let name = "void at::native::elementwise_kernel<(int)128, (int)2, void \
         at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase \
         &)::[lambda() (instance 3)]::operator ()() const::[lambda() (instance 7)]::operator ()() \
         const::[lambda(float) (instance 1)]>(at::TensorIteratorBase &, const T1 &)::[lambda(int) (instance \
         1)]>(int, T3)";
    insta::assert_snapshot!(shown(name), @"
    elementwise_kernel
     30 elementwise_kernel<128, 2,…>
     60 elementwise_kernel<128, 2, gpu_kernel_impl_nocast<…>::…>
    100 elementwise_kernel<128, 2, gpu_kernel_impl_nocast<direct_copy_kernel_cuda::…>::…>
    ");
}

#[test]
fn index() {
    let name = "void at::native::index_elementwise_kernel<(int)128, (int)4, void at::native::gpu_index_kernel<void \
         at::native::index_kernel_impl<at::native::OpaqueType<(int)4>>(at::TensorIteratorBase &, \
         c10::ArrayRef<long>, c10::ArrayRef<long>)::[lambda(char *, const char *, long) (instance \
         1)]>(at::TensorIteratorBase &, c10::ArrayRef<long>, c10::ArrayRef<long>, const T1 &, \
         bool)::[lambda(int) (instance 1)]>(long, T3)";
    insta::assert_snapshot!(shown(name), @"
    index_elementwise_kernel
     30 index_elementwise_kernel<…>
     60 index_elementwise_kernel<128, 4, gpu_index_kernel<…>::…>
    100 index_elementwise_kernel<128, 4, gpu_index_kernel<index_kernel_impl<OpaqueType<4>>::…>::…>
    ");
}

#[test]
fn radix_sort() {
    let name = "void at::native::radixSortKVInPlace<(int)2, (int)-1, (int)128, (int)32, float, long, unsigned \
         int>(at::cuda::detail::TensorInfo<T5, T7>, T7, T7, T7, at::cuda::detail::TensorInfo<T6, T7>, T7, \
         bool)";
    insta::assert_snapshot!(shown(name), @"
    radixSortKVInPlace
     30 radixSortKVInPlace<2, -1,…>
     60 radixSortKVInPlace<2, -1, 128, 32, float, long,…>
    100 at::native::radixSortKVInPlace<2, -1, 128, 32, float, long, unsigned int>
    ");
}

#[test]
fn arange() {
    let name = "void <unnamed>::elementwise_kernel_with_index<int, at::native::arange_cuda_out(const c10::Scalar &, \
         const c10::Scalar &, const c10::Scalar &, at::Tensor &)::[lambda() (instance 1)]::operator ()() \
         const::[lambda() (instance 4)]::operator ()() const::[lambda(long) (instance 1)]>(T1, T2, \
         function_traits<T2>::result_type *)";
    insta::assert_snapshot!(shown(name), @"
    elementwise_kernel_with_index
     30 elementwise_kernel_with_index
     60 elementwise_kernel_with_index<int, arange_cuda_out::…>
    100 elementwise_kernel_with_index<int, arange_cuda_out::…::{lambda(long)#1}>
    ");
}

#[test]
fn nchw() {
    let name = "void cudnn::engines_precompiled::nchwToNhwcKernel<__nv_bfloat16, __nv_bfloat16, float, (bool)0, \
         (bool)1, (cudnnKernelDataType_t)0>(cudnn::engines_precompiled::nchw2nhwc_params_t<T3>, const T1 *, \
         T2 *)";
    insta::assert_snapshot!(shown(name), @"
    nchwToNhwcKernel
     30 nchwToNhwcKernel<…>
     60 nchwToNhwcKernel<__nv_bfloat16, __nv_bfloat16, float, 0,…>
    100 cudnn::engines_precompiled::nchwToNhwcKernel<__nv_bfloat16, __nv_bfloat16, float, 0, 1, 0>
    ");
}

#[test]
fn random() {
    let name = "void at::native::<unnamed>::distribution_elementwise_grid_stride_kernel<unsigned int, (int)4, void \
         at::native::templates::cuda::random_from_to_kernel<at::CUDAGeneratorImpl *>(at::TensorIteratorBase \
         &, unsigned long, long, T1)::[lambda() (instance 1)]::operator ()() const::[lambda() (instance \
         4)]::operator ()() const::[lambda(curandStatePhilox4_32_10 *) (instance 2)], void \
         at::native::<unnamed>::distribution_nullary_kernel<long, unsigned int, uint4, at::CUDAGeneratorImpl \
         *, void at::native::templates::cuda::random_from_to_kernel<at::CUDAGeneratorImpl \
         *>(at::TensorIteratorBase &, unsigned long, long, T1)::[lambda() (instance 1)]::operator ()() \
         const::[lambda() (instance 4)]::operator ()() const::[lambda(curandStatePhilox4_32_10 *) (instance \
         2)], void at::native::templates::cuda::random_from_to_kernel<at::CUDAGeneratorImpl \
         *>(at::TensorIteratorBase &, unsigned long, long, T1)::[lambda() (instance 1)]::operator ()() \
         const::[lambda() (instance 4)]::operator ()() const::[lambda(unsigned int) (instance \
         1)]>(at::TensorIteratorBase &, T4, const T5 &, T6)::[lambda(int, unsigned int) (instance 1)]>(long, \
         at::PhiloxCudaState, T3, T4)";
    insta::assert_snapshot!(shown(name), @"
    distribution_elementwise_grid_stride_kernel
     30 distribution_elementwise_grid…
     60 distribution_elementwise_grid_stride_kernel<unsigned int,…>
    100 distribution_elementwise_grid_stride_kernel<unsigned int, 4, random_from_to_kernel<…>::…,…>
    ");
}

#[test]
fn normal() {
    let name = "void at::native::<unnamed>::distribution_elementwise_grid_stride_kernel<float, (int)4, void \
         at::native::templates::cuda::normal_and_transform<float, float, at::CUDAGeneratorImpl *, void \
         at::native::templates::cuda::normal_kernel<at::CUDAGeneratorImpl *>(const at::TensorBase &, double, \
         double, T1)::[lambda() (instance 1)]::operator ()() const::[lambda() (instance 2)]::operator ()() \
         const::[lambda(float) (instance 1)]>(at::TensorIteratorBase &, T3, \
         T4)::[lambda(curandStatePhilox4_32_10 *) (instance 2)], void \
         at::native::<unnamed>::distribution_nullary_kernel<float, float, float4, at::CUDAGeneratorImpl *, \
         void at::native::templates::cuda::normal_and_transform<float, float, at::CUDAGeneratorImpl *, void \
         at::native::templates::cuda::normal_kernel<at::CUDAGeneratorImpl *>(const at::TensorBase &, double, \
         double, T1)::[lambda() (instance 1)]::operator ()() const::[lambda() (instance 2)]::operator ()() \
         const::[lambda(float) (instance 1)]>(at::TensorIteratorBase &, T3, \
         T4)::[lambda(curandStatePhilox4_32_10 *) (instance 2)], void \
         at::native::templates::cuda::normal_kernel<at::CUDAGeneratorImpl *>(const at::TensorBase &, double, \
         double, T1)::[lambda() (instance 1)]::operator ()() const::[lambda() (instance 2)]::operator ()() \
         const::[lambda(float) (instance 1)]>(at::TensorIteratorBase &, T4, const T5 &, T6)::[lambda(int, \
         float) (instance 1)]>(long, at::PhiloxCudaState, T3, T4)";
    insta::assert_snapshot!(shown(name), @"
    distribution_elementwise_grid_stride_kernel
     30 distribution_elementwise_grid…
     60 distribution_elementwise_grid_stride_kernel<float, 4,…>
    100 distribution_elementwise_grid_stride_kernel<float, 4, normal_and_transform<…>::…,…>
    ");
}

#[test]
fn bilateral() {
    let name =
        "void bilateralFilter<(int)6>(const float *, float *, int, int, float, float, float)";
    insta::assert_snapshot!(shown(name), @"
    bilateralFilter
     30 bilateralFilter<6>
     60 bilateralFilter<6>
    100 bilateralFilter<6>
    ");
}

#[test]
fn adam() {
    let name = "void adam<float, float>(T1 *, T1 *, T1 *, const T2 *, float, float, float, float, float, int, \
         unsigned long, adamMode_t, float)";
    insta::assert_snapshot!(shown(name), @"
    adam
     30 adam<float, float>
     60 adam<float, float>
    100 adam<float, float>
    ");
}

#[test]
fn gelu_of_the_other_demangler() {
    let name = "void at::native::vectorized_elementwise_kernel<8, \
         at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, \
         at::native::GeluType)::{lambda()#2}::operator()() const::{lambda()#4}::operator()() \
         const::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> >(int, \
         at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, \
         at::native::GeluType)::{lambda()#2}::operator()() const::{lambda()#4}::operator()() \
         const::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul>)";
    insta::assert_snapshot!(shown(name), @"
    vectorized_elementwise_kernel
     30 vectorized_elementwise_kernel
     60 vectorized_elementwise_kernel<8, GeluCUDAKernelImpl::…,…>
    100 vectorized_elementwise_kernel<8, GeluCUDAKernelImpl::…::{lambda(BFloat16)#1}, array<char*, 2>>
    ");
}

#[test]
fn cublas() {
    let name = "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize256x128x8_stage3_warpsize4x2x1_ffma_aligna4_alignc4_ex\
         ecute_kernel__5x_cublas";
    insta::assert_snapshot!(shown(name), @"
    sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize256x128x8_stage3_warpsize4x2x1_ffma_aligna4_alignc4_execute_kernel__5x_cublas
     30 sm80_xmma_gemm_f32f32_f32f32_…
     60 sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize256x128x8_sta…
    100 sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize256x128x8_stage3_warpsize4x2x1_ffma_aligna4_alignc4_e…
    ");
}

#[test]
fn nvjet() {
    let name = "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT";
    insta::assert_snapshot!(shown(name), @"
    nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT
     30 nvjet_sm90_tst_256x128_64x4_1…
     60 nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT
    100 nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT
    ");
}

/// Written after the names that CUTLASS 3 gives its kernels; none was recorded.
#[test]
fn cutlass() {
    let name = "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, int, int, int>, \
         cutlass::gemm::collective::CollectiveMma<cutlass::gemm::MainloopSm90TmaGmmaWarpSpecialized<(int)4, \
         cute::tuple<cute::C<(int)2>, cute::C<(int)1>, cute::C<(int)1>>, \
         cutlass::gemm::KernelTmaWarpSpecializedCooperative>, cute::tuple<cute::C<(int)128>, cute::C<(int)128>, \
         cute::C<(int)64>>, cutlass::half_t, cute::tuple<long, cute::C<(int)1>, long>>, \
         cutlass::epilogue::collective::DefaultEpilogue<cutlass::half_t>, void>>(T1::Params)";
    insta::assert_snapshot!(shown(name), @"
    device_kernel
     30 device_kernel<…>
     60 device_kernel<GemmUniversal<…>>
    100 device_kernel<GemmUniversal<tuple<…>, CollectiveMma<…>, DefaultEpilogue<…>, void>>
    ");
}

#[test]
fn ascii_has_three_dots() {
    let name = "void ns::kernel<float, ns::tuple<ns::C<128>, ns::C<64>>, 1>(T1)";
    assert_eq!(
        shorten(name, 30, Charset::Ascii),
        "kernel<float, tuple<...>, 1>"
    );
    assert_eq!(shorten(name, 17, Charset::Ascii), "kernel<float,...>");
    assert_eq!(shorten(name, 12, Charset::Ascii), "kernel<...>");
    assert_eq!(shorten(name, 5, Charset::Ascii), "ke...");
}

#[test]
fn base_names_of_odd_functions() {
    let cases = [
        ("void ns::foo<(a)>(int)", "foo"),
        ("ns::T<int>::operator()(int) const", "operator()"),
        ("ns::T<int>::operator ()(int) const", "operator ()"),
        (
            "bool ns::operator< <int>(A<int> const&, A<int> const&)",
            "operator<",
        ),
        ("std::ostream& operator<<(std::ostream&, int)", "operator<<"),
        ("A::operator->() const", "operator->"),
        ("A::operator bool() const", "operator bool"),
        ("A::operator std::vector<int>()", "operator std::vector"),
        ("operator new(unsigned long)", "operator new"),
        ("float *scale(float *, int)", "scale"),
        ("std::enable_if<(4)<(5), void>::type pick<4>(int)", "pick"),
        ("void shift<(8 >> 2), 3>(int)", "shift"),
        (
            "void run<f(int)::{lambda(int)#1}>(f(int)::{lambda(int)#1})",
            "run",
        ),
        (
            "f(int)::{lambda(int)#1}::operator()(int) const",
            "operator()",
        ),
        ("main::{lambda(int)#1}", "{lambda(int)#1}"),
        ("kernel(float*, int) [clone .isra.0]", "kernel"),
        ("__global__ void k(int)", "k"),
        ("operatorless<int>(int)", "operatorless"),
        ("matmul_kernel_0d1d2d", "matmul_kernel_0d1d2d"),
        ("_Z4adamIffEvPT_S1_", "_Z4adamIffEvPT_S1_"),
        ("  padded(int)  ", "padded"),
        (
            "Memcpy HtoD (Pageable -> Device)",
            "Memcpy HtoD (Pageable -> Device)",
        ),
        ("[CUDA memcpy DtoH]", "[CUDA memcpy DtoH]"),
        ("void", "void"),
        ("", ""),
    ];
    for (name, base) in cases {
        assert_eq!(base_name(name), base, "{name}");
    }
}

#[test]
fn unbalanced_names_keep_their_base() {
    for name in [
        "void ns::foo<int, std::arr",
        "void ns::foo<int>(float*, in",
        "void ns::foo<int>>>(float*)",
        "void ns::foo<bar(>(int)",
        "ns::foo<{[(<",
        "ns::foo)",
    ] {
        assert!(
            base_name(name).starts_with("foo"),
            "{name}: {}",
            base_name(name)
        );
        assert!(
            shorten(name, 30, Charset::Unicode).starts_with("ns::foo"),
            "{name}"
        );
    }
    assert_eq!(
        shorten("void ns::foo<int, std::arr", 30, Charset::Unicode),
        "ns::foo<int, std::arr…>"
    );
}

#[test]
fn deep_and_long_names_take_no_time() {
    for part in [
        "a<", "f(", "<", "(", "{[", "::", "a,", "operator", ">", "行",
    ] {
        let name = part.repeat(200_000 / part.len());
        assert!(width(&shorten(&name, 40, Charset::Unicode)) <= 40);
        let _ = base_name(&name);
        let name = format!("void k<{name}>(int)");
        assert!(width(&shorten(&name, 40, Charset::Unicode)) <= 40);
        assert_eq!(base_name(&name), "k");
    }
}

#[test]
fn terminal_escapes_do_not_pass() {
    assert_eq!(
        shorten("void \u{1b}[31mfoo<int>(int)", 40, Charset::Unicode),
        "\\x1b[31mfoo<int>(int)…]"
    );
}

/// Names made of the parts that matter to the parser, and of anything.
fn any_name() -> impl Strategy<Value = String> {
    let parts = vec![
        "void ",
        "const",
        " ",
        "::",
        "<",
        ">",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        ",",
        "operator",
        "operator<",
        "->",
        "foo",
        "ns",
        "4",
        "(int)",
        "lambda",
        "#1",
        "(anonymous namespace)",
        "<unnamed>",
        "*",
        "&",
        "行",
        "\u{1b}",
        "\u{202e}",
        "\n",
        "\u{200b}",
        "e\u{301}",
    ];
    let part = prop_oneof![
        9 => prop::sample::select(parts).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn short_names_fit_and_are_safe(name in any_name(), columns in 0..120usize) {
        for charset in [Charset::Unicode, Charset::Ascii] {
            let short = shorten(&name, columns, charset);
            prop_assert!(width(&short) <= columns, "{short:?}");
            prop_assert_eq!(escape::terminal(&short), short.as_str());
        }
    }

    #[test]
    fn the_base_name_is_a_part_of_the_name(name in any_name()) {
        prop_assert!(name.contains(base_name(&name)));
    }

    #[test]
    fn the_base_name_stays_whole_where_it_fits(base in "[a-z_]{1,20}", arguments in any_name(), columns in 20..80usize) {
        let name = format!("void ns::{base}<{}>(int)", arguments.replace(['>', ')', ']', '}', '<', '(', '[', '{'], ""));
        let short = shorten(&name, columns, Charset::Unicode);
        prop_assert!(short.contains(&base), "{short}");
    }
}
