//! Scaled dot-product attention, fused: scores never leave the SM.

use super::{Counter, Demand, DemandError, SOFTMAX_OPERATIONS, product};
use crate::NumberFormat;

/// softmax(Q × Kᵀ) × V for each head.
///
/// With pairs = queries × keys, of which a causal mask leaves those whose key is not later than the query (the last
/// query sees all keys):
///
/// * bytes: (2 × batch·heads·queries·dim + 2 × batch·kv heads·keys·dim) × size
/// * operations: 4 × batch·heads·pairs·dim of matrix products, and 5 × batch·heads·pairs of softmax in FP32
#[derive(Clone, Debug, PartialEq)]
pub struct Attention {
    /// Sequences.
    pub batch: u64,
    /// Heads of the queries.
    pub heads: u64,
    /// Heads of keys and values, which groups of query heads share.
    pub kv_heads: u64,
    /// Queries of each sequence.
    pub queries: u64,
    /// Keys of each sequence.
    pub keys: u64,
    /// Elements of a head.
    pub head_dim: u64,
    /// Whether a query sees only keys that are not later than it.
    pub is_causal: bool,
    /// Format of queries, keys, values and output.
    pub format: NumberFormat,
}

impl Attention {
    /// What it needs at least.
    ///
    /// # Errors
    /// When there is nothing to do, more than can be counted, or heads do not share evenly.
    pub fn demand(&self) -> Result<Demand, DemandError> {
        let Self {
            batch,
            heads,
            kv_heads,
            queries,
            keys,
            head_dim,
            format,
            ..
        } = *self;
        let counter = Counter::new(&[
            ("batch", batch),
            ("heads", heads),
            ("kv-heads", kv_heads),
            ("seq", queries),
            ("kv-seq", keys),
            ("head-dim", head_dim),
        ])?;
        if !heads.is_multiple_of(kv_heads) {
            return Err(DemandError::DoesNotDivide {
                divisor: "the number of heads of keys and values",
                dividend: "that of queries",
            });
        }
        let pairs = product(&[batch, heads]) * self.pairs();
        let of_queries = product(&[batch, heads, queries, head_dim]);
        let of_keys = product(&[batch, kv_heads, keys, head_dim]);
        let mask = if self.is_causal { ", causal" } else { "" };
        let demand = counter
            .reads("Q", of_queries, format)?
            .reads("K", of_keys, format)?
            .reads("V", of_keys, format)?
            .writes("output", of_queries, format)?
            .matrix(4.0 * pairs * product(&[head_dim]), format)?
            .elementwise(SOFTMAX_OPERATIONS * pairs, NumberFormat::Fp32)?
            .demand(
                "attention",
                format!(
                    "{batch} x {heads} heads ({kv_heads} of K and V) x {queries} queries x {keys} keys x {head_dim}{mask}, {format}"
                ),
                "2 * (batch*heads*queries + batch*kv heads*keys) * dim * size",
                "4 * batch*heads*pairs*dim in products, 5 * batch*heads*pairs in softmax",
            );
        Ok(demand)
    }

    /// Pairs of query and key in one head that are not masked.
    fn pairs(&self) -> f64 {
        let all = product(&[self.queries, self.keys]);
        if !self.is_causal {
            return all;
        }
        // The last query sees all keys, the one before one key less; queries that see none are masked as a whole.
        let seeing = product(&[self.queries.min(self.keys)]);
        let keys = product(&[self.keys]);
        seeing * keys - seeing * (seeing - 1.0) / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attention() -> Attention {
        Attention {
            batch: 2,
            heads: 16,
            kv_heads: 16,
            queries: 4096,
            keys: 4096,
            head_dim: 128,
            is_causal: false,
            format: NumberFormat::Bf16,
        }
    }

    fn products(attention: &Attention) -> f64 {
        attention.demand().unwrap().arithmetic[0].operations.get()
    }

    /// 4 × 4096² × 128 × 32 heads, as the authors of FlashAttention count; half of it with a causal mask.
    #[test]
    fn long_sequences() {
        let whole = products(&attention());
        assert!((whole - 4.0 * 4096.0 * 4096.0 * 128.0 * 32.0).abs() < 0.5);
        let causal = Attention {
            is_causal: true,
            ..attention()
        };
        assert!((products(&causal) / whole - 0.5).abs() < 1e-3);
        // Four arrays of 32 MiB.
        assert_eq!(
            attention().demand().unwrap().bytes().binary().to_string(),
            "128 MiB"
        );
    }

    #[test]
    fn one_query_sees_all_keys_and_too_many_queries_see_none() {
        let causal = |queries, keys| Attention {
            is_causal: true,
            queries,
            keys,
            ..attention()
        };
        assert!((causal(1, 4096).pairs() - 4096.0).abs() < 0.5);
        assert!((causal(3, 3).pairs() - 6.0).abs() < 0.5);
        assert!((causal(5, 3).pairs() - 6.0).abs() < 0.5);
        assert!((causal(2, 3).pairs() - 5.0).abs() < 0.5);
    }

    #[test]
    fn shared_heads_save_bytes_and_have_to_divide() {
        let grouped = Attention {
            kv_heads: 4,
            ..attention()
        };
        assert_eq!(
            grouped.demand().unwrap().bytes().binary().to_string(),
            "80 MiB"
        );
        let odd = Attention {
            kv_heads: 3,
            ..attention()
        };
        assert!(matches!(
            odd.demand(),
            Err(DemandError::DoesNotDivide { .. })
        ));
    }
}
