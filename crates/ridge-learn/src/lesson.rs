//! The lessons, in the order in which they build on each other.

use crate::practice::{self, Maker};

/// A lesson: a page to read, and questions about it.
#[derive(Clone, Copy, Debug)]
pub struct Lesson {
    /// Its name on the command line.
    pub id: &'static str,
    /// The page, as Markdown: `docs/learn/ID.md`.
    pub page: &'static str,
    makers: &'static [Maker],
}

macro_rules! lessons {
    ($($id:literal $module:ident),+ $(,)?) => {
        /// All lessons.
        pub const LESSONS: &[Lesson] = &[$(Lesson {
            id: $id,
            page: include_str!(concat!("../../../docs/learn/", $id, ".md")),
            makers: practice::$module::MAKERS,
        }),+];
    };
}

lessons! {
    "two-walls" two_walls,
    "arithmetic-intensity" intensity,
    "ridge-point" ridge_point,
    "three-bounds" three_bounds,
    "occupancy" occupancy,
    "layers" layers,
    "measuring" measuring,
    "numerics" numerics,
}

impl Lesson {
    /// Its title.
    #[must_use]
    pub fn title(&self) -> &'static str {
        self.page
            .lines()
            .next()
            .and_then(|line| line.strip_prefix("# "))
            .unwrap_or_default()
    }

    /// What it is about, in one sentence: the first of its page.
    #[must_use]
    pub fn about(&self) -> String {
        let paragraph = self.page.split("\n\n").nth(1).unwrap_or_default();
        let text = paragraph.replace('\n', " ");
        let end = text.find(". ").map_or(text.len(), |dot| dot + 1);
        text[..end].to_owned()
    }

    pub(crate) const fn makers(&self) -> &'static [Maker] {
        self.makers
    }
}

/// The lesson of a name; case, hyphens and underscores do not matter.
#[must_use]
pub fn find(name: &str) -> Option<&'static Lesson> {
    let plain = ridge_model::spelling::plain;
    LESSONS
        .iter()
        .find(|lesson| plain(lesson.id) == plain(name) || plain(lesson.title()) == plain(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_a_title_and_say_what_they_are_about() {
        for lesson in LESSONS {
            assert!(!lesson.title().is_empty(), "{}", lesson.id);
            assert!(
                lesson.about().ends_with('.'),
                "{}: {}",
                lesson.id,
                lesson.about()
            );
        }
        assert_eq!(find("Two_Walls").unwrap().id, "two-walls");
        assert!(find("three walls").is_none());
    }

    #[test]
    fn every_page_of_the_folder_is_a_lesson() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/learn");
        let pages = std::fs::read_dir(folder).unwrap().count() - 1;
        assert_eq!(
            pages,
            LESSONS.len(),
            "README.md and one page for each lesson"
        );
    }
}
