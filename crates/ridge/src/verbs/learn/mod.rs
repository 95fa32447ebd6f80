//! `ridge learn`: lessons to read, and rounds of questions that are answered from memory.

mod answers;
mod machine;
mod store;

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use ridge_learn::{LESSONS, Lesson, Material, Outcome, Round, gallery, lesson};
use ridge_model::Device;
use ridge_model::quantity::counted;
use ridge_render::page::Layout;

use crate::args::LearnFormat;
use crate::error::ExpectedError;
use crate::exit::{self, Code};
use crate::markdown;
use crate::output::Output;
use crate::verbs::devices::{find, layout, table};
use answers::{Answers, Next};
use store::Store;

/// Whose reports the gallery has; asked about where there is no other GPU.
const USUAL_DEVICE: &str = "H200 SXM";

/// What to learn, and from where answers come.
pub(crate) struct LearnOptions {
    pub(crate) lesson: Option<String>,
    pub(crate) script: Option<Script>,
    pub(crate) seed: Option<u64>,
    pub(crate) device: Option<String>,
    pub(crate) table: Option<PathBuf>,
    pub(crate) format: Option<LearnFormat>,
}

/// Where the answers of a script are.
pub(crate) enum Script {
    Input,
    File(PathBuf),
}

pub(crate) fn run(options: &LearnOptions, output: &mut Output) -> Result<Code, ExpectedError> {
    let format = format(options, output)?;
    let lesson = options.lesson.as_deref().map(known).transpose()?;
    if lesson.is_none() && options.script.is_none() {
        return list(options, format, output);
    }
    if format == LearnFormat::Json && options.script.is_none() {
        return Err(ExpectedError::usage(
            "--format json is the result of a round whose answers come from a script",
        )
        .with_hint("--quiz ANSWERS, one answer a line"));
    }
    let is_terminal = output.is_terminal() && std::io::stdin().is_terminal();
    if options.script.is_none() && !is_terminal {
        return Err(ExpectedError::usage(
            "a lesson asks questions, and this is no terminal to answer them",
        )
        .with_hint("run it in a terminal, or give answers with --quiz ANSWERS, one a line; `-` is standard input"));
    }
    let devices = table(options.table.as_deref(), output)?;
    let own = machine::gpu_names();
    let of_machine = || own.iter().find_map(|name| devices.find(name).ok());
    let device: &Device = match &options.device {
        Some(name) => find(&devices, name)?,
        None => match of_machine() {
            Some(device) => device,
            None => {
                output.note(&format!(
                    "no GPU of the table is in this machine: questions are about {USUAL_DEVICE}; --device NAME asks about another"
                ));
                find(&devices, USUAL_DEVICE)?
            }
        },
    };
    let material = Material {
        device,
        cases: gallery::cases(),
    };
    let seed = options.seed.unwrap_or_else(|| match options.script {
        Some(_) => 0,
        None => fresh_seed(),
    });
    let round = Round::new(lesson, &material, seed);
    if round.is_empty() {
        return Err(ExpectedError::usage(format!(
            "the table knows too little of {} for questions of this lesson",
            device.name
        ))
        .with_hint(format!(
            "--device '{USUAL_DEVICE}', or a table of your own with --devices FILE"
        )));
    }
    let answers = Answers::open(options.script.as_ref())?;
    let session = Session {
        lesson,
        seed,
        is_script: options.script.is_some(),
        layout: layout(output),
    };
    let store = Store::open(output)?;
    session.run(round, answers, store, format, output)
}

fn format(options: &LearnOptions, output: &Output) -> Result<LearnFormat, ExpectedError> {
    match (options.format, output.extension().as_deref()) {
        (Some(format), _) => Ok(format),
        (None, None | Some("txt" | "text" | "log")) => Ok(LearnFormat::Text),
        (None, Some("json")) => Ok(LearnFormat::Json),
        (None, Some(other)) => Err(ExpectedError::usage(format!(
            "the extension {other:?} of the output file names no format of `ridge learn`"
        ))
        .with_hint("say --format text or --format json")),
    }
}

/// The lesson of a name.
fn known(name: &str) -> Result<&'static Lesson, ExpectedError> {
    lesson::find(name).ok_or_else(|| {
        let near = gallery::nearest_of(name, LESSONS.iter().map(|lesson| lesson.id));
        let names = if near.is_empty() {
            LESSONS.iter().map(|lesson| lesson.id).collect()
        } else {
            near
        };
        ExpectedError::usage(format!("{name:?} is no lesson"))
            .with_hint(format!("`ridge learn` with one of: {}", names.join(", ")))
    })
}

/// The lessons, with what was done of them.
fn list(
    options: &LearnOptions,
    format: LearnFormat,
    output: &Output,
) -> Result<Code, ExpectedError> {
    if format == LearnFormat::Json {
        return Err(
            ExpectedError::usage("--format json is the result of a round")
                .with_hint("`ridge learn LESSON --quiz ANSWERS --format json`"),
        );
    }
    let without_round = [
        ("--seed", options.seed.is_some()),
        ("--device", options.device.is_some()),
        ("--devices", options.table.is_some()),
    ];
    if let Some((option, _)) = without_round.iter().find(|(_, is_given)| *is_given) {
        return Err(ExpectedError::usage(format!(
            "{option} is about the questions of a lesson, and none is named"
        ))
        .with_hint(format!("`ridge learn {}`", LESSONS[0].id)));
    }
    let store = Store::open(output)?;
    output.write(&ridge_render::learn::list(
        store.progress(),
        &layout(output),
    ))?;
    Ok(exit::FINE)
}

/// Another seed each time, short enough to be typed.
fn fresh_seed() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| u64::from(since.subsec_nanos()) ^ since.as_secs())
        % 1_000_000
}

/// A round with somebody, or with a script.
struct Session {
    lesson: Option<&'static Lesson>,
    seed: u64,
    is_script: bool,
    layout: Layout,
}

impl Session {
    fn run(
        &self,
        mut round: Round,
        mut answers: Answers,
        mut store: Store,
        format: LearnFormat,
        output: &Output,
    ) -> Result<Code, ExpectedError> {
        let mut code = exit::FINE;
        let is_text = format == LearnFormat::Text;
        output.stream(|sink| {
            if is_text && let (Some(lesson), false) = (self.lesson, self.is_script) {
                let Layout {
                    columns,
                    charset,
                    painter,
                    ..
                } = self.layout;
                let page = markdown::text(lesson.page, columns, charset, painter);
                writeln!(sink, "{page}")?;
            }
            while round.current().is_some() {
                if is_text {
                    let text = ridge_render::learn::question(&round, &self.layout);
                    sink.write_all(text.as_bytes())?;
                    sink.flush()?;
                }
                match self.ask(&mut round, &mut answers, is_text, sink)? {
                    Asked::Answered { lesson, is_right } => {
                        store.add_answer(lesson, is_right, output);
                    }
                    Asked::Ended => break,
                    Asked::Interrupted => {
                        code = exit::INTERRUPTED;
                        break;
                    }
                }
            }
            if round.current().is_none() {
                let left = answers.left() as u64;
                if left > 0 {
                    output.warn(&format!(
                        "the script has {} more than the round has questions",
                        counted(left, "answer")
                    ));
                }
            }
            let (right, asked) = round.score();
            if round.is_complete()
                && let Some(lesson) = self.lesson
            {
                store.add_round(lesson, right, asked, output);
            }
            if is_text {
                let text = ridge_render::learn::end(
                    &round,
                    self.lesson,
                    self.seed,
                    store.progress(),
                    &self.layout,
                );
                sink.write_all(text.as_bytes())?;
            } else {
                ridge_render::json::write(&round.document(), sink)?;
            }
            Ok(true)
        })?;
        Ok(code)
    }

    /// Waits for an answer to the current question, judges it, and says what it is worth.
    fn ask(
        &self,
        round: &mut Round,
        answers: &mut Answers,
        is_text: bool,
        sink: &mut dyn Write,
    ) -> std::io::Result<Asked> {
        loop {
            let typed = match answers.next() {
                Next::Line(line) => line,
                other => {
                    if is_text {
                        writeln!(sink)?;
                        writeln!(sink)?;
                    }
                    return Ok(match other {
                        Next::Interrupted => Asked::Interrupted,
                        _ => Asked::Ended,
                    });
                }
            };
            let Some((_, lesson, question)) = round.current() else {
                return Ok(Asked::Ended);
            };
            let judgement = question.judge(&typed);
            if is_text && self.is_script {
                sink.write_all(ridge_render::learn::echo(&typed).as_bytes())?;
            }
            // A person meant something; of a script, the next line answers the next question.
            if judgement.outcome == Outcome::NotUnderstood && !self.is_script {
                let text = ridge_render::learn::again(question, &judgement, &self.layout);
                sink.write_all(text.as_bytes())?;
                sink.flush()?;
                continue;
            }
            if is_text {
                let text = ridge_render::learn::judged(question, &judgement, &self.layout);
                writeln!(sink, "{text}")?;
            }
            let is_right = judgement.outcome == Outcome::Right;
            round.take(&typed, judgement);
            return Ok(Asked::Answered { lesson, is_right });
        }
    }
}

/// What became of a question.
enum Asked {
    Answered {
        lesson: &'static Lesson,
        is_right: bool,
    },
    /// There are no more answers.
    Ended,
    Interrupted,
}
