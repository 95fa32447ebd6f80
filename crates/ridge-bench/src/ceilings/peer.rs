//! Links to other GPUs of the machine: copies there, back, and both at once.

use ridge_gpu::{Peer, PeerLink};

use super::document::{self, Family, Figure, Measured, Missing};
use super::link::{Copy, both_ways, image, label, large, one_way};
use super::probe::{Label, Spreader, checksum, contents, wrong};
use super::runner::{Manner, Runner};
use crate::protocol::Failure;

pub(super) fn measure(
    runner: &Runner<'_>,
    measured: &mut Measured,
    tell: &mut dyn FnMut(&str),
) -> Result<(), Failure> {
    for peer in runner.device.peers()? {
        tell(&format!("GPU {}", peer.ordinal));
        match of(runner, &peer) {
            Ok(figures) => measured.figures.extend(figures),
            // One that is not reached takes no other with it, unless nothing can be reached any more.
            Err(failure) if runner.device.death().is_none() => measured.missing.push(Missing {
                family: Family::Peer,
                name: Some(format!("copies to and from GPU {}", peer.ordinal)),
                failure,
            }),
            Err(failure) => return Err(failure),
        }
    }
    Ok(())
}

/// The figures of one other GPU.
fn of(runner: &Runner<'_>, peer: &Peer) -> Result<Vec<Figure>, Failure> {
    let device = runner.device;
    let bytes = large(device);
    let image = image();
    let (own, back) = (device.allocate(bytes)?, device.allocate(bytes)?);
    let there = device.allocate_peer(peer.ordinal, bytes)?;
    Spreader::new(device)?.fill(runner, &own, &image)?;
    let to = |stream: &_, bytes| device.copy_to_peer(stream, &own, &there, bytes);
    let from = |stream: &_, bytes| device.copy_from_peer(stream, &there, &back, bytes);
    // The first copy makes the way; what is there is what comes back then.
    to(&runner.stream, bytes)?;
    runner.synchronize()?;
    let way = way(peer);
    let name = |what: &str| format!("{what} GPU {}, {way}", peer.ordinal);
    let mut figures = Vec::new();
    for (id, name, copy) in [
        ("peer-to", name("to"), &to as &Copy<'_>),
        ("peer-from", name("from"), &from),
    ] {
        let label = label(Family::Peer, id, &name);
        figures.extend(one_way(runner, &label, Manner::Burst, bytes, copy)?);
    }
    let name = name("both ways at once with");
    let both = Label {
        counts: "bytes that cross the link, both ways",
        ..label(Family::Peer, "peer-duplex", &name)
    };
    figures.extend(both_ways(runner, &both, Manner::Burst, bytes, &to, &from)?);
    // What went there and back is what was sent.
    device.fill(&runner.stream, &back, 0)?;
    to(&runner.stream, bytes)?;
    from(&runner.stream, bytes)?;
    let found = contents(runner, &back)?;
    if !image.starts_with(&found) {
        return Err(wrong(format!(
            "what went to GPU {} and back is something else",
            peer.ordinal
        )));
    }
    for figure in &mut figures {
        figure.checksum = Some(checksum(&found));
        figure.peer = Some(described(peer));
    }
    Ok(figures)
}

/// What people read of the way.
fn way(peer: &Peer) -> &'static str {
    match peer.link {
        _ if !peer.has_access => "through the host",
        Some(PeerLink::NvLink { .. }) => "NVLink",
        Some(PeerLink::Pcie) => "PCIe",
        None => "link not known",
    }
}

fn described(peer: &Peer) -> document::Peer {
    let (link, nvlinks) = match peer.link {
        Some(PeerLink::NvLink { links }) => (Some(document::PeerLink::NvLink), links),
        Some(PeerLink::Pcie) => (Some(document::PeerLink::Pcie), None),
        None => (None, None),
    };
    document::Peer {
        ordinal: peer.ordinal,
        name: peer.name.clone(),
        uuid: peer.uuid.clone(),
        has_access: peer.has_access,
        link,
        nvlinks,
    }
}
