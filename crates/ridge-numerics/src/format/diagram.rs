//! Layouts drawn as text.

use super::Layout;

impl Layout {
    /// The bits as letters, over them the number of each field's highest bit, below them what the letters mean.
    ///
    /// ```
    /// use ridge_numerics::format::Format;
    ///
    /// let layout = Format::F16.layout().unwrap();
    /// let expected = "\
    /// 15 14    9
    /// s  eeeee mmmmmmmmmm
    /// s sign, e exponent (5 bits, bias 15), m mantissa (10 bits)";
    /// assert_eq!(layout.diagram(), expected);
    /// ```
    #[must_use]
    pub fn diagram(self) -> String {
        let Self {
            exponent,
            mantissa,
            padding,
            bias,
            ..
        } = self;
        let fields = [
            ('s', self.sign, "s sign".to_owned()),
            (
                'e',
                exponent,
                format!("e exponent ({exponent} bits, bias {bias})"),
            ),
            (
                'm',
                mantissa,
                match mantissa {
                    1 => "m mantissa (1 bit)".to_owned(),
                    _ => format!("m mantissa ({mantissa} bits)"),
                },
            ),
            ('.', padding, format!(". unused ({padding} bits)")),
        ];
        let mut highest: u32 = fields.iter().map(|field| field.1).sum();
        let (mut places, mut letters, mut legend) = (Vec::new(), Vec::new(), Vec::new());
        for (letter, bits, meaning) in fields.into_iter().filter(|field| field.1 > 0) {
            let place = (highest - 1).to_string();
            let drawn = String::from(letter).repeat(bits as usize);
            let width = place.len().max(drawn.len());
            places.push(format!("{place:width$}"));
            letters.push(format!("{drawn:width$}"));
            legend.push(meaning);
            highest -= bits;
        }
        format!(
            "{}\n{}\n{}",
            places.join(" ").trim_end(),
            letters.join(" ").trim_end(),
            legend.join(", ")
        )
    }
}
