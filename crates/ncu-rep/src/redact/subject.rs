//! What a redaction removes, in words.

use std::fmt;

/// What was removed from a report or replaced in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Subject {
    /// Names, addresses, builds and processors of machines.
    Machine,
    /// Path of the program, its folder, arguments and environment.
    Program,
    /// Words of the profiler's command line.
    CommandLine,
    /// Settings of the profiler that are free text.
    Settings,
    /// Process and thread ids.
    Ids,
    /// Addresses in the memory of the host.
    HostAddresses,
    /// Times of day.
    Times,
    /// Comments of the user.
    Comments,
    /// Names that the user or the program gave to things: contexts, streams, renamed kernels.
    GivenNames,
    /// NVTX domains and ranges.
    Nvtx,
    /// CPU and Python call stacks.
    CallStacks,
    /// Source text and imported source files.
    SourceFiles,
    /// Intermediate code.
    IntermediateCode,
    /// Compiled code.
    Cubins,
    /// Names of functions and data objects that were not profiled.
    Symbols,
    /// Names of kernels, or the names of files in them.
    KernelNames,
    /// Texts, charts and tables of rules.
    RuleTexts,
    /// Paths in the marks of rules.
    MarkedFiles,
    /// Layout of the profiler's pages.
    SectionLayout,
    /// Rules and sections that are not the profiler's own.
    ForeignRules,
    /// Values of metrics and attributes that identify a machine.
    DeviceIdentity,
    /// Texts among metric values that are not known to be harmless.
    MetricTexts,
    /// Strings that do not look like names of metrics.
    MetricNames,
    /// Names of devices and components that are not known to be harmless.
    Components,
    /// Opaque bytes.
    Opaque,
    /// Fields that this version does not know, or in a form that it does not know.
    Unknown,
}

impl Subject {
    /// What was removed, in a few words.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Self::Machine => "names, addresses, builds and processors of machines",
            Self::Program => "path of the program, its folder, arguments and environment",
            Self::CommandLine => "words of the profiler's command line",
            Self::Settings => "settings of the profiler that are free text",
            Self::Ids => "process and thread ids (numbered anew)",
            Self::HostAddresses => "addresses in the memory of the host",
            Self::Times => "times of day (series start at 1 ns)",
            Self::Comments => "comments of the user",
            Self::GivenNames => "names given to contexts, streams, command lists and kernels",
            Self::Nvtx => "NVTX domains and ranges",
            Self::CallStacks => "CPU and Python call stacks",
            Self::SourceFiles => "source text and imported source files",
            Self::IntermediateCode => "intermediate code",
            Self::Cubins => "compiled code",
            Self::Symbols => "names of functions and data objects that were not profiled",
            Self::KernelNames => "names of kernels, or names of files in them",
            Self::RuleTexts => "texts, charts and tables of rules",
            Self::MarkedFiles => "paths in the marks of rules (numbered)",
            Self::SectionLayout => "layout of the profiler's pages",
            Self::ForeignRules => "rules and sections that are not the profiler's own",
            Self::DeviceIdentity => "values of metrics and attributes that identify a machine",
            Self::MetricTexts => "texts among metric values that are not known to be harmless",
            Self::MetricNames => "strings that do not look like names of metrics",
            Self::Components => "names of devices and versions that are not known to be harmless",
            Self::Opaque => "opaque bytes",
            Self::Unknown => "fields that this version does not know",
        }
    }

    /// What can no longer be done with the report, where it is more than reading the removed thing.
    #[must_use]
    pub fn consequence(self) -> Option<&'static str> {
        match self {
            Self::Cubins => {
                Some("instructions cannot be shown or mapped to source lines; their addresses stay")
            }
            Self::SourceFiles => Some("source lines cannot be shown"),
            Self::MarkedFiles => Some("marks name a line of a numbered file"),
            Self::SectionLayout => {
                Some("the profiler's own viewer has no page layout; all metrics stay")
            }
            Self::RuleTexts => Some("rules keep identity, kind, title, metrics and estimate"),
            Self::Times => Some("launches cannot be placed in time; durations stay"),
            _ => None,
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.description())
    }
}
