//! `ridge roofline`: kernels as points under the roofs of their device.

mod bench;
pub(crate) mod point;
mod report;

use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::PathBuf;

use ridge_model::quantity::Hertz;
use ridge_model::roof::MemoryLevel;
use ridge_model::roofline::document::{
    Beside, Chart, Document, SCHEMA, Side, Source, SourceKind, VERSION, Warning,
};
use ridge_model::roofline::{Setting, Subject};
use ridge_model::{Device, Devices};
use ridge_render::roofline::{Picture, csv, html, svg, text};

use crate::args::RooflineFormat;
use crate::error::ExpectedError;
use crate::evidence::{Evidence, shown_name};
use crate::exit::{self, Code};
use crate::filter::{Address, LeftOut, Selection};
use crate::input::Input;
use crate::output::Output;
use crate::verbs::ceilings::stored::{Asked, Choice, Stored, driver_of_machine};
use crate::verbs::devices::{find, layout, table};
use point::GivenPoint;
use report::Place;

/// Which points to draw, and how.
pub(crate) struct RooflineOptions {
    pub(crate) named: Vec<Named>,
    pub(crate) selection: Selection,
    pub(crate) points: Vec<GivenPoint>,
    pub(crate) device: Option<String>,
    pub(crate) table: Option<PathBuf>,
    pub(crate) ceilings: Choice,
    pub(crate) clock: Option<Hertz>,
    pub(crate) level: MemoryLevel,
    pub(crate) width: Option<u32>,
    pub(crate) format: Option<RooflineFormat>,
}

/// What the name of a simulated device starts with.
const SIMULATED: &str = "simulated ";

/// What tells the settings of an input apart: its device and the row of the table that belongs to it.
#[derive(PartialEq, Eq, Hash)]
struct SettingKey {
    device: Option<String>,
    compute_capability: Option<String>,
    multiprocessors: Option<u32>,
    sheet: Option<(String, Option<u32>)>,
}

impl SettingKey {
    fn of(setting: &Setting) -> Self {
        let sheet = setting.sheet.as_ref();
        Self {
            device: setting.device.clone(),
            compute_capability: setting.compute_capability.clone(),
            multiprocessors: setting.multiprocessors,
            sheet: sheet.map(|sheet| (sheet.device.name.clone(), sheet.scaled_to)),
        }
    }
}

/// An input as it was named, and its side of a comparison.
pub(crate) struct Named {
    pub(crate) file: OsString,
    pub(crate) side: Option<Side>,
}

/// Collects the document while inputs are read one after the other.
struct Answer<'o> {
    options: &'o RooflineOptions,
    table: &'o Devices,
    device: Option<&'o Device>,
    sources: Vec<Source>,
    settings: Vec<(Setting, Vec<Subject>)>,
    /// Places in `settings`.
    places: HashMap<SettingKey, usize>,
    warnings: Vec<Warning>,
    /// Messages of `warnings` that are said once.
    said: HashSet<String>,
    left_out: LeftOut,
    is_incomplete: bool,
}

pub(crate) fn run(options: &RooflineOptions, output: &mut Output) -> Result<Code, ExpectedError> {
    let format = format(options, output)?;
    if options.named.is_empty() && options.points.is_empty() {
        return Err(ExpectedError::usage("there is nothing to draw").with_hint(
            "name a report or what `ridge bench` wrote, or give points of your own with --device NAME --point NAME,OPERATIONS,BYTES,TIME",
        ));
    }
    let table: Cow<'_, Devices> = table(options.table.as_deref(), output)?;
    let device = options
        .device
        .as_deref()
        .map(|name| find(&table, name))
        .transpose()?;
    let mut answer = Answer::new(options, &table, device);
    let mut code = exit::FINE;
    for named in &options.named {
        if let Err(error) = answer.add_file(named, output) {
            // The other inputs are still worth an answer.
            output.complain(&error);
            code = code.and(error.exit);
        }
    }
    if code != exit::FINE && answer.settings.is_empty() {
        return Ok(code);
    }
    answer.add_points()?;
    if answer.settings.is_empty() {
        if !answer.left_out.is_empty() {
            return Err(answer.left_out.nothing_matches(&options.selection));
        }
        return Err(ExpectedError::unreadable("the inputs hold no kernel")
            .with_hint("profile the program again with `ncu --set full`"));
    }
    if answer.is_incomplete {
        code = code.and(exit::UNREADABLE);
    }
    answer.add_measured(output)?;
    let document = answer.finish();
    let picture = Picture {
        level: options.level,
        width: options.width,
    };
    match format {
        RooflineFormat::Text => output.write(&text(&document, picture, &layout(output)))?,
        RooflineFormat::Csv => output.stream(|sink| csv(&document, sink).map(|()| true))?,
        RooflineFormat::Svg => output.write(&svg(&document, picture))?,
        RooflineFormat::Html => output.write(&html(&document, picture).map_err(not_written)?)?,
        RooflineFormat::Json => output.json(&document)?,
    }
    if format != RooflineFormat::Text {
        let text = |warning: &Warning| {
            let source = warning.source.and_then(|id| document.sources.get(id));
            source.map_or_else(
                || warning.message.clone(),
                |source| format!("{}: {}", shown_name(&source.file), warning.message),
            )
        };
        output.warn_all(document.warnings.iter().map(text));
    }
    Ok(code)
}

/// The points of both sides of a comparison under the roofs of their devices, for a page about something else.
pub(crate) fn points_of(named: &[Named], output: &Output) -> Result<Document, ExpectedError> {
    let options = RooflineOptions {
        named: Vec::new(),
        selection: Selection::all(),
        points: Vec::new(),
        device: None,
        table: None,
        ceilings: Choice::Nothing,
        clock: None,
        level: MemoryLevel::Dram,
        width: None,
        format: None,
    };
    let mut answer = Answer::new(&options, Devices::known(), None);
    for named in named {
        answer.add_file(named, output)?;
    }
    Ok(answer.finish())
}

/// What to collect where an input lacks the counters of operations.
fn not_counted(source: usize, (all, without): (usize, usize)) -> Option<Warning> {
    (without > 0).then(|| Warning {
        code: "operations-not-counted".to_owned(),
        message: format!(
            "operations of {} not counted, so that {} no place in the chart; profile with `ncu --set full`, or give the numbers with --point",
            match all {
                1 => "the kernel were".to_owned(),
                _ => format!("{without} of {all} kernels were"),
            },
            if without == 1 { "it has" } else { "they have" }
        ),
        source: Some(source),
        offset: None,
    })
}

fn not_written(error: impl std::fmt::Display) -> ExpectedError {
    ExpectedError::internal(format!("cannot write the document: {error}"))
}

fn format(options: &RooflineOptions, output: &Output) -> Result<RooflineFormat, ExpectedError> {
    match (options.format, output.extension().as_deref()) {
        (Some(format), _) => Ok(format),
        (None, None | Some("txt" | "text" | "log")) => Ok(RooflineFormat::Text),
        (None, Some("json")) => Ok(RooflineFormat::Json),
        (None, Some("csv")) => Ok(RooflineFormat::Csv),
        (None, Some("svg")) => Ok(RooflineFormat::Svg),
        (None, Some("html" | "htm")) => Ok(RooflineFormat::Html),
        (None, Some(other)) => Err(ExpectedError::usage(format!(
            "the extension {other:?} of the output file names no format of `ridge roofline`"
        ))
        .with_hint("say --format text, json, csv, svg or html")),
    }
}

impl<'o> Answer<'o> {
    fn new(options: &'o RooflineOptions, table: &'o Devices, device: Option<&'o Device>) -> Self {
        Self {
            options,
            table,
            device,
            sources: Vec::new(),
            settings: Vec::new(),
            places: HashMap::new(),
            warnings: Vec::new(),
            said: HashSet::new(),
            left_out: LeftOut::default(),
            is_incomplete: false,
        }
    }
}

impl Answer<'_> {
    fn add_file(&mut self, named: &Named, output: &Output) -> Result<(), ExpectedError> {
        let address = Address::of_argument(&named.file)?;
        let input = Input::open(&address, output)?;
        let id = self.sources.len();
        let kind = if let Some(document) = bench::read(&input, &address)? {
            self.add_bench(&document, id, &address, named.side)?;
            SourceKind::Bench
        } else {
            let evidence = Evidence::new(&input, &address)?;
            self.add_report(&evidence, id, &address, named.side)?;
            match evidence {
                Evidence::Report(_) | Evidence::Merged(_) => SourceKind::NcuReport,
                Evidence::Csv(_) => SourceKind::NcuCsv,
            }
        };
        if let Some(problem) = &input.problem {
            self.add_problem(id, problem);
        }
        self.sources.push(Source {
            id,
            file: address.text().into_owned(),
            kind,
            side: named.side,
        });
        Ok(())
    }

    /// Points of the command line go to the chart of their device; without a name, to the only one there is.
    fn add_points(&mut self) -> Result<(), ExpectedError> {
        if self.options.points.is_empty() {
            return Ok(());
        }
        let own = match (self.device, self.settings.as_slice()) {
            (Some(device), _) => Some(device.clone()),
            (None, [(setting, _)]) => setting.sheet.as_ref().map(|sheet| sheet.device.clone()),
            (None, _) => None,
        };
        let Some(device) = own else {
            return Err(
                ExpectedError::usage("the device of the points is not known")
                    .with_hint("--device h200-sxm, or another name that `ridge devices` lists"),
            );
        };
        let place = self.settings.iter().position(|(setting, _)| {
            let sheet = setting.sheet.as_ref();
            sheet.is_some_and(|sheet| sheet.device.name == device.name)
        });
        let place = place.unwrap_or_else(|| {
            self.settings
                .push((Place::of_table(&device).setting, Vec::new()));
            self.settings.len() - 1
        });
        let points = self.options.points.iter();
        let clock = self.options.clock;
        if let Some(message) = clock.and_then(|clock| device.doubt_of_clock(clock)) {
            self.warnings.push(Warning {
                code: "doubtful-clock".to_owned(),
                message,
                source: None,
                offset: None,
            });
        }
        for point in &self.options.points {
            point.check(&device, clock, &self.settings[place].1)?;
        }
        self.settings[place]
            .1
            .extend(points.map(|point| point.subject(&device, clock)));
        Ok(())
    }

    /// Adds what was measured on the devices: roofs that go before those of data sheets.
    fn add_measured(&mut self, output: &Output) -> Result<(), ExpectedError> {
        let stored = Stored::read(&self.options.ceilings, driver_of_machine(), output)?;
        let is_one_of_many = self.settings.len() > 1;
        for (setting, _) in &mut self.settings {
            let Some(sheet) = &setting.sheet else {
                continue;
            };
            // A model has not been measured: only a file that is named is used for it.
            let name = setting.device.as_deref().unwrap_or_default();
            if self.options.ceilings == Choice::Auto && name.starts_with(SIMULATED) {
                continue;
            }
            let asked = Asked {
                device: &sheet.device,
                multiprocessors: setting.multiprocessors,
                uuid: None,
            };
            let found = match stored.of(&asked, output) {
                // A file is of one device; that of another chart may be it.
                Err(_) if is_one_of_many => None,
                other => other?,
            };
            if let Some(measured) = found {
                let (memory, compute) = measured.roofs(Some(&sheet.device));
                setting.measured_memory = memory;
                setting.measured_compute = compute;
                setting.measured_by = Some(measured.provenance);
            }
        }
        Ok(())
    }

    /// Adds a kernel to the chart of its device.
    fn add(&mut self, place: Place, subject: Subject, source: Option<usize>) {
        if let Some((code, message)) = place.doubt
            && self.said.insert(message.clone())
        {
            self.warnings.push(Warning {
                code: code.to_owned(),
                message,
                source,
                offset: None,
            });
        }
        let place = match self.places.entry(SettingKey::of(&place.setting)) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                self.settings.push((place.setting, Vec::new()));
                *new.insert(self.settings.len() - 1)
            }
        };
        self.settings[place].1.push(subject);
    }

    fn add_problem(&mut self, source: usize, problem: &ncu_rep::Error) {
        self.is_incomplete |= !problem.is_remark();
        self.warnings.push(Warning {
            code: problem.code().to_owned(),
            message: problem.to_string(),
            source: Some(source),
            offset: problem.offset(),
        });
    }

    fn finish(mut self) -> Document {
        let charts: Vec<Chart> = self
            .settings
            .into_iter()
            .map(|(setting, subjects)| Chart::new(&setting, subjects))
            .collect();
        let mut counts = vec![(0, 0); self.sources.len()];
        for kernel in charts.iter().flat_map(|chart| &chart.kernels) {
            if let Some((all, without)) = kernel.source.and_then(|id| counts.get_mut(id)) {
                *all += 1;
                *without += usize::from(kernel.left_out == Some(Beside::OperationsNotCounted));
            }
        }
        let without = counts.into_iter().enumerate();
        self.warnings
            .extend(without.filter_map(|(id, counts)| not_counted(id, counts)));
        let is_compared = self.sources.iter().any(|source| source.side.is_some());
        if is_compared && charts.iter().all(|chart| chart.pairs.is_empty()) {
            self.warnings.push(Warning {
                code: "no-pairs".to_owned(),
                message: "no kernel of --before has its like in --after on the same device: names and devices have to agree; FILE#NAME on both sides joins two kernels whatever their names".to_owned(),
                source: None,
                offset: None,
            });
        }
        Document {
            schema: SCHEMA,
            version: VERSION,
            sources: self.sources,
            charts,
            warnings: self.warnings,
        }
    }
}
