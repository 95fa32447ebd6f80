//! Horizontal bars for shares.

use ridge_model::quantity::Ratio;

use crate::charset::Charset;

/// Eighths of a column, from one to seven.
const PARTS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// A bar that is `columns` wide for the whole, and at most that for any share; without padding.
///
/// Shares above one end in `>`. A share above zero is never empty and one below one never full, so the bar does not
/// claim what the number beside it denies. Zero, negative and undefined shares are empty.
#[must_use]
pub fn bar(share: Ratio, columns: usize, charset: Charset) -> String {
    let share = share.get();
    if share.is_nan() || share <= 0.0 || columns == 0 {
        return String::new();
    }
    let full = match charset {
        Charset::Unicode => '█',
        Charset::Ascii => '#',
    };
    if share > 1.0 {
        let mut bar: String = std::iter::repeat_n(full, columns - 1).collect();
        bar.push('>');
        return bar;
    }
    let parts = match charset {
        Charset::Unicode => PARTS.len() + 1,
        // A started column is a dot, whatever its share.
        Charset::Ascii => 2,
    };
    let most = columns * parts;
    let filled = share * most as f64;
    let filled = if share < 1.0 {
        (filled.round() as usize).clamp(1, most - 1)
    } else {
        most
    };
    let mut bar: String = std::iter::repeat_n(full, filled / parts).collect();
    match (filled % parts, charset) {
        (0, _) => {}
        (part, Charset::Unicode) => bar.extend(PARTS.get(part - 1)),
        (_, Charset::Ascii) => bar.push('.'),
    }
    bar
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::width::width;
    use proptest::prelude::*;

    const SHARES: [f64; 9] = [0.0, 0.001, 0.1, 0.37, 0.5, 0.931, 0.999, 1.0, 1.4];

    fn lines(charset: Charset) -> String {
        SHARES
            .map(|share| format!("{share:5} |{}", bar(Ratio::new(share), 10, charset)))
            .join("\n")
    }

    #[test]
    fn eighths_show_small_differences() {
        insta::assert_snapshot!(lines(Charset::Unicode), @"
            0 |
        0.001 |▏
          0.1 |█
         0.37 |███▊
          0.5 |█████
        0.931 |█████████▎
        0.999 |█████████▉
            1 |██████████
          1.4 |█████████>
        ");
    }

    #[test]
    fn ascii_is_coarser() {
        insta::assert_snapshot!(lines(Charset::Ascii), @"
            0 |
        0.001 |.
          0.1 |#
         0.37 |###.
          0.5 |#####
        0.931 |#########.
        0.999 |#########.
            1 |##########
          1.4 |#########>
        ");
    }

    #[test]
    fn odd_shares_are_empty_or_clamped() {
        let text = |share| bar(Ratio::new(share), 4, Charset::Ascii);
        assert_eq!(text(f64::NAN), "");
        assert_eq!(text(-1.0), "");
        assert_eq!(text(f64::INFINITY), "###>");
        assert_eq!(text(f64::MIN_POSITIVE), ".");
        assert_eq!(bar(Ratio::new(0.5), 0, Charset::Ascii), "");
        assert_eq!(bar(Ratio::new(7.0), 1, Charset::Ascii), ">");
    }

    proptest! {
        #[test]
        fn a_bar_never_exceeds_its_columns(share in any::<f64>(), columns in 0..200usize) {
            prop_assert!(width(&bar(Ratio::new(share), columns, Charset::Unicode)) <= columns);
            prop_assert!(width(&bar(Ratio::new(share), columns, Charset::Ascii)) <= columns);
        }

        #[test]
        fn more_is_never_shorter(small in 0.0..1.0f64, more in 0.0..0.5f64) {
            let length = |share| width(&bar(Ratio::new(share), 20, Charset::Unicode));
            prop_assert!(length(small) <= length(small + more));
        }
    }
}
