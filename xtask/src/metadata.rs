//! The few fields of `cargo metadata` that the tasks need.

use std::path::Path;
use std::process::Command;

use serde::Deserialize;

use crate::Error;

/// What `cargo metadata` says about the workspace.
#[derive(Clone, Debug, Deserialize)]
pub struct Metadata {
    /// All packages that were asked for.
    pub packages: Vec<Package>,
    /// The ids of the workspace's own packages.
    pub workspace_members: Vec<String>,
    /// Which package each dependency turned out to be; absent when only members were asked for.
    pub resolve: Option<Resolve>,
}

/// A package.
#[derive(Clone, Debug, Deserialize)]
pub struct Package {
    /// Cargo's id of it.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its licence expression, where one is declared.
    pub license: Option<String>,
    /// What its manifest asks for.
    pub dependencies: Vec<Dependency>,
    /// Where its manifest lies.
    pub manifest_path: std::path::PathBuf,
}

/// A line of a manifest's dependency tables.
#[derive(Clone, Debug, Deserialize)]
pub struct Dependency {
    /// The package's name.
    pub name: String,
    /// The version requirement.
    pub req: String,
    /// `dev` or `build`; absent for an ordinary one.
    pub kind: Option<String>,
    /// Whether a feature switches it on.
    pub optional: bool,
    /// The platforms that it is for; absent for all.
    pub target: Option<String>,
    /// The folder of a dependency inside the workspace.
    pub path: Option<std::path::PathBuf>,
}

/// The resolved graph.
#[derive(Clone, Debug, Deserialize)]
pub struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Clone, Debug, Deserialize)]
struct Node {
    id: String,
    deps: Vec<Edge>,
}

#[derive(Clone, Debug, Deserialize)]
struct Edge {
    pkg: String,
}

impl Metadata {
    /// Reads the members alone. Needs neither network nor downloaded dependencies.
    pub fn members_only(root: &Path) -> Result<Self, Error> {
        Self::load(root, &["--no-deps"])
    }

    /// Reads the members and everything that they depend on, for all platforms and features.
    pub fn with_dependencies(root: &Path) -> Result<Self, Error> {
        Self::load(root, &["--all-features", "--locked"])
    }

    fn load(root: &Path, options: &[&str]) -> Result<Self, Error> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output = Command::new(cargo)
            .args(["metadata", "--format-version", "1"])
            .args(options)
            .current_dir(root)
            .output()
            .map_err(|error| format!("cannot start cargo: {error}"))?;
        if !output.status.success() {
            return Err(format!(
                "cargo metadata: {}",
                String::from_utf8_lossy(&output.stderr).trim()
            )
            .into());
        }
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    /// The workspace's own packages, sorted by name.
    #[must_use]
    pub fn members(&self) -> Vec<&Package> {
        let mut members: Vec<&Package> = self
            .packages
            .iter()
            .filter(|package| self.workspace_members.contains(&package.id))
            .collect();
        members.sort_by(|a, b| a.name.cmp(&b.name));
        members
    }

    /// The package that a member's dependency of this name was resolved to.
    #[must_use]
    pub fn resolved(&self, member: &Package, name: &str) -> Option<&Package> {
        let node = self
            .resolve
            .as_ref()?
            .nodes
            .iter()
            .find(|node| node.id == member.id)?;
        node.deps
            .iter()
            .filter_map(|edge| self.packages.iter().find(|package| package.id == edge.pkg))
            .find(|package| package.name == name)
    }
}
