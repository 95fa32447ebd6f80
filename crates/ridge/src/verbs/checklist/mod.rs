//! `ridge checklist`: is a port worth a GPU, and is it done well.

mod read;

use std::ffi::OsString;
use std::path::PathBuf;

use ridge_checklist::{Answer, checklist};

use crate::args::ChecklistFormat;
use crate::error::ExpectedError;
use crate::exit::{self, Code};
use crate::output::Output;
use crate::verbs::ceilings::stored::{Choice, Stored, driver_of_machine};
use crate::verbs::collect::input_sets;
use crate::verbs::devices::layout;
use read::Reader;

/// What to look at, and how to show the answers.
pub(crate) struct ChecklistOptions {
    pub(crate) files: Vec<OsString>,
    /// Flags of the compiler.
    pub(crate) flags: Option<String>,
    /// A file of what the user states.
    pub(crate) claims: Option<PathBuf>,
    pub(crate) ceilings: Choice,
    pub(crate) format: Option<ChecklistFormat>,
}

pub(crate) fn run(options: &ChecklistOptions, output: &mut Output) -> Result<Code, ExpectedError> {
    let format = format(options, output)?;
    let mut reader = Reader::default();
    let mut code = exit::FINE;
    for set in input_sets(&options.files, output) {
        if let Err(error) = reader.add(set, output) {
            // The other inputs are still worth an answer.
            output.complain(&error);
            code = code.and(error.exit);
        }
    }
    if let Some(path) = &options.claims
        && let Err(error) = reader.add_claims(path)
    {
        output.complain(&error);
        code = code.and(error.exit);
    }
    if let Some(flags) = &options.flags {
        reader.add_flags(flags);
    }
    if reader.is_empty() && code != exit::FINE {
        return Ok(code);
    }
    if !reader.is_whole {
        code = code.and(exit::UNREADABLE);
    }
    let stored = Stored::read(&options.ceilings, driver_of_machine(), output)?;
    reader.add_ceilings(&stored, output)?;
    let document = checklist(&reader.inputs);
    match format {
        ChecklistFormat::Text => {
            output.write(&ridge_render::checklist::text(&document, &layout(output)))?
        }
        ChecklistFormat::Markdown => {
            output.write(&ridge_render::checklist::markdown(&document))?;
        }
        ChecklistFormat::Json => output.json(&document)?,
    }
    if document.count(Answer::No) > 0 {
        code = code.and(exit::SLOWER);
    }
    Ok(code)
}

fn format(options: &ChecklistOptions, output: &Output) -> Result<ChecklistFormat, ExpectedError> {
    match (options.format, output.extension().as_deref()) {
        (Some(format), _) => Ok(format),
        (None, None | Some("txt" | "text" | "log")) => Ok(ChecklistFormat::Text),
        (None, Some("json")) => Ok(ChecklistFormat::Json),
        (None, Some("md" | "markdown")) => Ok(ChecklistFormat::Markdown),
        (None, Some(other)) => Err(ExpectedError::usage(format!(
            "the extension {other:?} of the output file names no format of `ridge checklist`"
        ))
        .with_hint("say --format text, json or markdown")),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use clap::Parser;
    use ridge_checklist::{Build, Claims, Inputs, Named, Origin};
    use ridge_numerics::stored::{Comparison, Outcome, Repeat};

    use super::*;
    use crate::args::Arguments;

    /// A name of a file that a shell, and the command line behind it, could take for something else.
    const ODD: &str = "-my report's $HOME.ncu-rep";

    fn inputs(files: &[&str]) -> Inputs {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let quiet = Arguments::try_parse_from(["ridge", "checklist", "-q", "x"]).unwrap();
        let output = Output::new(&quiet.common);
        let files: Vec<OsString> = files.iter().map(|file| root.join(file).into()).collect();
        let mut reader = Reader::default();
        for set in input_sets(&files, &output) {
            reader.add(set, &output).unwrap();
        }
        reader.inputs
    }

    fn renamed(mut inputs: Inputs) -> Inputs {
        for named in &mut inputs.diagnoses {
            ODD.clone_into(&mut named.name);
            named.content.origin = Origin::File(ODD.to_owned());
            for source in &mut named.content.document.sources {
                source.program = Some("./a program".to_owned());
            }
        }
        for named in &mut inputs.programs {
            ODD.clone_into(&mut named.name);
        }
        for named in &mut inputs.benches {
            ODD.clone_into(&mut named.name);
        }
        inputs
    }

    fn comparison(outcome: Outcome) -> Named<Comparison> {
        let content = Comparison {
            reference: "the reference.npy".to_owned(),
            output: ODD.to_owned(),
            format: "f32".to_owned(),
            outcome,
            sentence: "it is so".to_owned(),
            tolerance: None,
            next: None,
            failing: None,
        };
        Named::new("numerics.json", content)
    }

    fn repeat(runs: u64, distinct: u64) -> Named<Repeat> {
        let content = Repeat {
            command: ["sh", "-c", "it's; done", "--", "-x"]
                .map(str::to_owned)
                .into(),
            runs,
            distinct,
            is_identical: distinct == 1,
            could_be_missed: None,
            sentence: "it is so".to_owned(),
            actions: Vec::new(),
        };
        Named::new("repeat.json", content)
    }

    /// Words as a shell makes them of a command.
    fn words(command: &str) -> Vec<String> {
        let mut words = Vec::new();
        let mut word: Option<String> = None;
        let mut quote = None;
        let mut letters = command.chars();
        while let Some(letter) = letters.next() {
            match (quote, letter) {
                (Some(open), _) if letter == open => quote = None,
                (Some(_), _) => word.get_or_insert_default().push(letter),
                (None, '\'' | '"') => {
                    word.get_or_insert_default();
                    quote = Some(letter);
                }
                (None, '\\') => word.get_or_insert_default().extend(letters.next()),
                (None, ' ') => words.extend(word.take()),
                (None, _) => word.get_or_insert_default().push(letter),
            }
        }
        assert_eq!(quote, None, "{command}");
        words.extend(word);
        words
    }

    #[test]
    fn every_command_that_is_proposed_can_be_typed() {
        let sets: [&[&str]; 6] = [
            &[],
            &[
                "fixtures/checklist/pytorch_step.ncu-rep.zst",
                "fixtures/traces/pytorch_kineto.json.gz",
            ],
            &["fixtures/traces/pytorch_kineto.json.gz"],
            &["fixtures/reports/small/basic.ncu-rep.zst"],
            &["fixtures/reports/small/twometrics.ncu-rep.zst"],
            &[
                "fixtures/reports/aos.ncu-rep.zst",
                "fixtures/formats/bench-1/copy.json",
            ],
        ];
        let mut all = Vec::new();
        for files in sets {
            let plain = inputs(files);
            all.push(renamed(plain.clone()));
            all.push(plain);
        }
        for flags in ["-G", "-lineinfo", "-O3 --use_fast_math"] {
            let build = Named::new("--flags", Build::of_flags(flags));
            let claims = Claims::read("[cpu]\nthreads = 1\ncores = 4\n").unwrap();
            all.push(Inputs {
                builds: vec![build],
                claims: Some(Named::new("claims.toml", claims)),
                ..Inputs::default()
            });
        }
        for outcome in [Outcome::Wrong, Outcome::CannotTell] {
            all.push(Inputs {
                comparisons: vec![comparison(outcome)],
                repeats: vec![repeat(1, 1)],
                ..Inputs::default()
            });
        }
        all.push(Inputs {
            repeats: vec![repeat(3, 2)],
            ..Inputs::default()
        });
        let lines = all.iter().flat_map(|inputs| checklist(inputs).lines);
        let commands: BTreeSet<String> = lines.flat_map(|line| line.next).collect();
        let mut verbs = BTreeSet::new();
        for command in &commands {
            let words = words(command);
            match words[0].as_str() {
                "ridge" => {
                    if let Err(error) = Arguments::try_parse_from(&words) {
                        panic!("{command}: {error}");
                    }
                    verbs.insert(words[1].clone());
                    let names_it = words.iter().any(|word| word.contains(ODD));
                    assert!(
                        names_it || !command.contains("HOME"),
                        "{command}: {words:?}"
                    );
                    if words[1] == "explain" {
                        assert!(ridge_checklist::title(&words[2]).is_some(), "{command}");
                    }
                }
                "ncu" | "cmake" => {}
                _ => panic!("{command}"),
            }
        }
        let expected = [
            "bench",
            "checklist",
            "explain",
            "numerics",
            "sanitize",
            "timeline",
            "trace",
            "why",
        ];
        assert_eq!(verbs, BTreeSet::from(expected.map(str::to_owned)));
    }
}
