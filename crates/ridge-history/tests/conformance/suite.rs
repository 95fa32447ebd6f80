//! What every store does.

use ridge_history::{Error, Filter, Id, Kind, Record, SeriesKey, Store, Timestamp, copy};

use crate::Place;
use crate::samples::{Sample, at, ten};

type Case = fn(&(dyn Place + Sync));

pub(crate) const CASES: &[(&str, Case)] = &[
    ("what_is_stored_comes_back", what_is_stored_comes_back),
    (
        "the_same_result_is_stored_once",
        the_same_result_is_stored_once,
    ),
    ("lists_are_newest_first", lists_are_newest_first),
    ("every_filter_chooses", every_filter_chooses),
    ("baselines_are_looked_up", baselines_are_looked_up),
    ("series_have_their_points", series_have_their_points),
    ("texts_of_any_kind_are_kept", texts_of_any_kind_are_kept),
    (
        "pruning_removes_all_of_a_result",
        pruning_removes_all_of_a_result,
    ),
    (
        "stores_are_merged_without_duplicates",
        stores_are_merged_without_duplicates,
    ),
    ("two_writers_lose_nothing", two_writers_lose_nothing),
    (
        "many_results_are_walked_in_order",
        many_results_are_walked_in_order,
    ),
    (
        "times_that_cannot_be_are_walked_past",
        times_that_cannot_be_are_walked_past,
    ),
    ("an_empty_store_has_nothing", an_empty_store_has_nothing),
];

fn all() -> Filter {
    Filter::default()
}

/// Everything, newest first, without the documents.
fn names(store: &mut dyn Store, filter: &Filter) -> Vec<String> {
    store
        .list(filter)
        .unwrap()
        .into_iter()
        .map(|head| head.name)
        .collect()
}

fn what_is_stored_comes_back(place: &(dyn Place + Sync)) {
    let sample = Sample {
        labels: &[("nightly", ""), ("variant", "a=b")],
        ..Sample::default()
    };
    let plain = Record::of_document(
        br#"{"schema": "ridgepoint.ceilings", "version": 2}"#,
        ridge_history::Circumstances::default(),
    )
    .unwrap();
    let records = [sample.record(), plain];
    let inserted = place.open().insert(&records).unwrap();
    assert_eq!((inserted.added, inserted.known), (2, 0));
    // Of another connection, so that nothing comes out of memory.
    let mut store = place.open();
    for record in &records {
        let found = store.get(record.head.id).unwrap().unwrap();
        assert_eq!(&found, record);
        assert_eq!(
            found.document.json().unwrap(),
            record.document.json().unwrap()
        );
    }
    assert_eq!(store.refuses_writes().map(|error| error.code()), None);
}

fn the_same_result_is_stored_once(place: &(dyn Place + Sync)) {
    let mut store = place.open();
    let records = ten();
    assert_eq!(store.insert(&records[..4]).unwrap().added, 4);
    let twice: Vec<Record> = records.iter().chain(&records[..2]).cloned().collect();
    let inserted = store.insert(&twice).unwrap();
    assert_eq!((inserted.added, inserted.known), (6, 6));
    assert_eq!(store.count(&all()).unwrap(), 10);
    let series = store.series(&all()).unwrap();
    assert!(
        series.iter().all(|series| series.points == 10),
        "{series:?}"
    );
}

fn lists_are_newest_first(place: &(dyn Place + Sync)) {
    let mut store = place.open();
    let mut records = ten();
    records.reverse();
    store.insert(&records[3..]).unwrap();
    store.insert(&records[..3]).unwrap();
    let heads = store.list(&all()).unwrap();
    let expected: Vec<_> = records.iter().map(|record| record.head.clone()).collect();
    assert_eq!(heads, expected);
    let newest = Filter {
        limit: Some(3),
        ..all()
    };
    assert_eq!(store.list(&newest).unwrap(), expected[..3]);
    assert_eq!(store.count(&newest).unwrap(), 3);
}

fn every_filter_chooses(place: &(dyn Place + Sync)) {
    let mut store = place.open();
    let plain = Sample::default();
    store
        .insert(&[
            plain.record(),
            Sample {
                benchmark: "other",
                minute: 1,
                ..plain.clone()
            }
            .record(),
            Sample {
                benchmark: "branch",
                minute: 2,
                branch: Some("wip"),
                ..plain.clone()
            }
            .record(),
            Sample {
                benchmark: "commit",
                minute: 4,
                commit: Some("0123ffff"),
                ..plain.clone()
            }
            .record(),
            Sample {
                benchmark: "host",
                minute: 6,
                host: "build-2",
                ..plain.clone()
            }
            .record(),
            Sample {
                benchmark: "gpu",
                minute: 8,
                gpu: "NVIDIA A100",
                ..plain.clone()
            }
            .record(),
            Sample {
                benchmark: "label",
                minute: 10,
                labels: &[("baseline", "v1"), ("x", "")],
                ..plain.clone()
            }
            .record(),
            Sample {
                benchmark: "label2",
                minute: 12,
                labels: &[("baseline", "v2")],
                ..plain.clone()
            }
            .record(),
            Sample {
                benchmark: "none",
                minute: 14,
                branch: None,
                commit: None,
                ..plain
            }
            .record(),
        ])
        .unwrap();
    let text = |text: &str| Some(text.to_owned());
    let label = |name: &str, value: Option<&str>| (name.to_owned(), value.map(str::to_owned));
    let id = store.list(&all()).unwrap()[3].id;
    let cases: Vec<(Filter, &[&str])> = vec![
        (
            Filter {
                kind: Some(Kind::Why),
                ..all()
            },
            &[],
        ),
        (
            Filter {
                kind: Some(Kind::Bench),
                limit: Some(1),
                ..all()
            },
            &["none"],
        ),
        (
            Filter {
                name: text("other"),
                ..all()
            },
            &["other"],
        ),
        (
            Filter {
                id: Some(id.short().parse().unwrap()),
                ..all()
            },
            &["gpu"],
        ),
        (
            Filter {
                since: Some(at(12)),
                ..all()
            },
            &["none", "label2"],
        ),
        (
            Filter {
                before: Some(at(2)),
                ..all()
            },
            &["other", "copy"],
        ),
        (
            Filter {
                gpu: text("NVIDIA A100"),
                ..all()
            },
            &["gpu"],
        ),
        (
            Filter {
                host: text("build-2"),
                ..all()
            },
            &["host"],
        ),
        (
            Filter {
                commit: text("0123f"),
                ..all()
            },
            &["commit"],
        ),
        (
            Filter {
                commit: text("0123456789abcdef0123456789abcdef01234567"),
                branch: text("wip"),
                ..all()
            },
            &["branch"],
        ),
        (
            Filter {
                branch: text("wip"),
                ..all()
            },
            &["branch"],
        ),
        (
            Filter {
                is_dirty: Some(true),
                ..all()
            },
            &["other"],
        ),
        (
            Filter {
                labels: vec![label("baseline", None)],
                ..all()
            },
            &["label2", "label"],
        ),
        (
            Filter {
                labels: vec![label("baseline", Some("v1"))],
                ..all()
            },
            &["label"],
        ),
        (
            Filter {
                labels: vec![label("baseline", None), label("x", Some(""))],
                ..all()
            },
            &["label"],
        ),
        (
            Filter {
                without_labels: vec![label("baseline", Some("v1"))],
                since: Some(at(9)),
                ..all()
            },
            &["none", "label2"],
        ),
        (
            Filter {
                subject: text("gpu/scalar[n=1]"),
                ..all()
            },
            &["gpu"],
        ),
        (
            Filter {
                subject: text("gpu/scalar"),
                ..all()
            },
            &[],
        ),
    ];
    for (filter, expected) in cases {
        assert_eq!(names(store.as_mut(), &filter), expected, "{filter:?}");
        let count = u64::try_from(expected.len()).unwrap();
        assert_eq!(store.count(&filter).unwrap(), count, "{filter:?}");
        let mut walked = Vec::new();
        store
            .for_each(&filter, &mut |record| {
                walked.push(record.head.name);
                Ok(())
            })
            .unwrap();
        walked.reverse();
        assert_eq!(walked, expected, "{filter:?}");
    }
}

fn baselines_are_looked_up(place: &(dyn Place + Sync)) {
    let mut store = place.open();
    let mut records = ten();
    records.push(
        Sample {
            minute: 3,
            labels: &[("baseline", "")],
            ..Sample::default()
        }
        .record(),
    );
    records.push(
        Sample {
            minute: 99,
            branch: Some("wip"),
            ..Sample::default()
        }
        .record(),
    );
    store.insert(&records).unwrap();
    let main = Filter {
        name: Some("copy".to_owned()),
        branch: Some("main".to_owned()),
        ..all()
    };
    assert_eq!(store.latest(&main).unwrap().unwrap().time, at(9));
    let labelled = Filter {
        labels: vec![("baseline".to_owned(), None)],
        ..all()
    };
    assert_eq!(store.latest(&labelled).unwrap().unwrap().time, at(3));
    let none = Filter {
        branch: Some("gone".to_owned()),
        ..all()
    };
    assert_eq!(store.latest(&none).unwrap(), None);
}

fn key(gpu: &str, metric: &str, unit: &str) -> SeriesKey {
    SeriesKey {
        subject: "copy/scalar[n=1]".to_owned(),
        metric: metric.to_owned(),
        unit: unit.to_owned(),
        gpu: Some(gpu.to_owned()),
    }
}

fn series_have_their_points(place: &(dyn Place + Sync)) {
    let mut store = place.open();
    let mut records = ten();
    records.push(
        Sample {
            minute: 20,
            gpu: "NVIDIA A100",
            median: 2000.0,
            ..Sample::default()
        }
        .record(),
    );
    records.push(
        Sample {
            minute: 30,
            branch: Some("wip"),
            median: 3.0,
            ..Sample::default()
        }
        .record(),
    );
    store.insert(&records).unwrap();
    let series = store.series(&all()).unwrap();
    let keys: Vec<_> = series
        .iter()
        .map(|series| (series.key.clone(), series.points))
        .collect();
    assert_eq!(
        keys,
        [
            (key("NVIDIA A100", "registers", "registers"), 1),
            (key("NVIDIA H200", "registers", "registers"), 11),
            (key("NVIDIA A100", "time.cold", "ns"), 1),
            (key("NVIDIA H200", "time.cold", "ns"), 11),
        ]
    );
    assert_eq!((series[3].first, series[3].last), (at(0), at(30)));
    let h200 = Filter {
        gpu: Some("NVIDIA H200".to_owned()),
        branch: Some("main".to_owned()),
        ..all()
    };
    let of_main = store.series(&h200).unwrap();
    assert_eq!(
        of_main
            .iter()
            .map(|series| series.points)
            .collect::<Vec<_>>(),
        [10, 10]
    );

    let time = key("NVIDIA H200", "time.cold", "ns");
    let points = store.points(&time, &all()).unwrap();
    assert_eq!(points.len(), 11);
    assert!(points.is_sorted_by_key(|point| point.time));
    let third = &points[2];
    assert_eq!(
        (third.value, third.low, third.high, third.samples),
        (1002.0, Some(990.5), Some(1010.25), Some(40))
    );
    assert_eq!(third.result, records[2].head.id);
    assert_eq!(third.revision, records[2].head.revision);
    assert_eq!(third.host.as_deref(), Some("build-1"));
    let part = Filter {
        since: Some(at(4)),
        before: Some(at(30)),
        branch: Some("main".to_owned()),
        limit: Some(2),
        ..all()
    };
    let values: Vec<f64> = store
        .points(&time, &part)
        .unwrap()
        .iter()
        .map(|point| point.value)
        .collect();
    assert_eq!(values, [1008.0, 1009.0], "the newest, oldest first");
    assert_eq!(
        store
            .points(&key("another", "time.cold", "ns"), &all())
            .unwrap(),
        []
    );
}

fn texts_of_any_kind_are_kept(place: &(dyn Place + Sync)) {
    let long = format!("void f<{}>(int)", "ns::T<float, 128>, ".repeat(500));
    let names = [
        "Robert'); DROP TABLE result;--",
        "\u{1b}[31mred\u{7}",
        "zero\0byte",
        "ümläut 漢字 🚀 \u{202e}",
        long.as_str(),
        "%_\\\"'",
    ];
    let mut store = place.open();
    let records: Vec<Record> = names
        .iter()
        .map(|name| {
            let document = serde_json::json!({
                "schema": "ridgepoint.diagnosis", "version": 1, "sources": [{"file": name}],
                "kernels": [{"signature": name, "duration_ns": 7.5}],
            });
            let document = document.to_string();
            Record::of_document(document.as_bytes(), ridge_history::Circumstances::default())
                .unwrap()
        })
        .collect();
    assert_eq!(store.insert(&records).unwrap().added, 6);
    for record in &records {
        assert_eq!(store.get(record.head.id).unwrap().as_ref(), Some(record));
        let named = Filter {
            name: Some(record.head.name.clone()),
            subject: Some(record.points[0].subject.clone()),
            ..all()
        };
        assert_eq!(
            store.list(&named).unwrap(),
            std::slice::from_ref(&record.head)
        );
    }
    assert_eq!(store.series(&all()).unwrap().len(), 6);
}

fn pruning_removes_all_of_a_result(place: &(dyn Place + Sync)) {
    let mut store = place.open();
    let mut records = ten();
    let kept = Sample {
        minute: 1,
        benchmark: "kept",
        labels: &[("baseline", "")],
        ..Sample::default()
    }
    .record();
    let gone = Sample {
        minute: 1,
        benchmark: "gone",
        labels: &[("x", "")],
        ..Sample::default()
    }
    .record();
    records.extend([kept.clone(), gone.clone()]);
    store.insert(&records).unwrap();
    let old = Filter {
        before: Some(at(8)),
        without_labels: vec![("baseline".to_owned(), None)],
        ..all()
    };
    assert_eq!(store.prune(&old).unwrap(), 9);
    assert_eq!(names(store.as_mut(), &all()), ["copy", "copy", "kept"]);
    assert_eq!(store.get(gone.head.id).unwrap(), None);
    assert_eq!(store.get(kept.head.id).unwrap(), Some(kept));
    // A series without points is no series.
    let series = store.series(&all()).unwrap();
    assert!(
        series
            .iter()
            .all(|series| !series.key.subject.starts_with("gone")),
        "{series:?}"
    );
    assert_eq!(store.prune(&old).unwrap(), 0);
    // What was removed can come back.
    assert_eq!(store.insert(&records).unwrap().added, 9);
    assert_eq!(store.series(&all()).unwrap().len(), 6);
}

fn stores_are_merged_without_duplicates(place: &(dyn Place + Sync)) {
    let other = crate::File::new();
    let mut other = other.open();
    let mut store = place.open();
    let records = ten();
    store.insert(&records[..6]).unwrap();
    other.insert(&records[4..]).unwrap();
    let mut none = |id: Id, error: Error| panic!("{id}: {error}");
    let inserted = copy(other.as_mut(), store.as_mut(), &all(), &mut none).unwrap();
    assert_eq!((inserted.added, inserted.known), (4, 2));
    let back = copy(store.as_mut(), other.as_mut(), &all(), &mut none).unwrap();
    assert_eq!((back.added, back.known), (4, 6));
    assert_eq!(store.list(&all()).unwrap(), other.list(&all()).unwrap());
    for record in &records {
        assert_eq!(store.get(record.head.id).unwrap().as_ref(), Some(record));
        assert_eq!(other.get(record.head.id).unwrap().as_ref(), Some(record));
    }
}

fn two_writers_lose_nothing(place: &(dyn Place + Sync)) {
    const EACH: i64 = 120;
    // Both write the same results too, in opposite orders.
    let batch = |writer: i64| -> Vec<Record> {
        let minutes: Box<dyn Iterator<Item = i64>> = match writer {
            0 => Box::new(0..EACH),
            _ => Box::new((0..EACH).rev()),
        };
        minutes
            .flat_map(|minute| {
                let own = Sample {
                    minute,
                    host: ["build-1", "build-2"][usize::try_from(writer).unwrap()],
                    ..Sample::default()
                };
                let shared = Sample {
                    minute,
                    host: "shared",
                    ..Sample::default()
                };
                [own.record(), shared.record()]
            })
            .collect()
    };
    std::thread::scope(|scope| {
        for writer in 0..2 {
            let batch = &batch;
            scope.spawn(move || {
                let mut store = place.open();
                for part in batch(writer).chunks(16) {
                    store.insert(part).unwrap();
                }
            });
        }
    });
    let mut store = place.open();
    assert_eq!(
        store.count(&all()).unwrap(),
        u64::try_from(3 * EACH).unwrap()
    );
    let series = store.series(&all()).unwrap();
    assert!(
        series
            .iter()
            .all(|series| series.points == u64::try_from(3 * EACH).unwrap()),
        "{series:?}"
    );
}

fn many_results_are_walked_in_order(place: &(dyn Place + Sync)) {
    // More than two pages, several of one time.
    let records: Vec<Record> = (0..450)
        .map(|number| {
            Sample {
                minute: number / 7,
                median: f64::from(i32::try_from(number).unwrap()),
                ..Sample::default()
            }
            .record()
        })
        .collect();
    let mut store = place.open();
    store.insert(&records).unwrap();
    let mut expected: Vec<_> = records
        .iter()
        .map(|record| (record.head.time, record.head.id))
        .collect();
    expected.sort_unstable();
    let mut walked = Vec::new();
    store
        .for_each(&all(), &mut |record| {
            walked.push((record.head.time, record.head.id));
            Ok(())
        })
        .unwrap();
    assert_eq!(walked, expected);
    // The visitor can end it.
    let mut seen = 0;
    let error = store
        .for_each(&all(), &mut |_| {
            seen += 1;
            Err(Error::Document("enough".to_owned()))
        })
        .unwrap_err();
    assert_eq!((seen, error.code()), (1, "HIS0012"));
}

fn an_empty_store_has_nothing(place: &(dyn Place + Sync)) {
    let mut store = place.open();
    assert_eq!(store.list(&all()).unwrap(), []);
    assert_eq!(store.series(&all()).unwrap(), []);
    assert_eq!(store.count(&all()).unwrap(), 0);
    assert_eq!(store.prune(&all()).unwrap(), 0);
    assert_eq!(store.insert(&[]).unwrap().added, 0);
    assert_eq!(store.get(ten()[0].head.id).unwrap(), None);
}

/// Times that no clock gives, as a hand or another program stores them: more than a page at either end of the numbers.
fn times_that_cannot_be_are_walked_past(place: &(dyn Place + Sync)) {
    let mut records = ten();
    for number in 0..250_i64 {
        let mut record = Sample {
            minute: number,
            host: "odd",
            ..Sample::default()
        }
        .record();
        record.head.time = Timestamp::from_micros(match number % 5 {
            0 => i64::MIN,
            1 => i64::MIN + 1 + number,
            2 => i64::MAX - number,
            _ => i64::MAX,
        });
        records.push(record);
    }
    let mut store = place.open();
    store.insert(&records).unwrap();
    let mut expected: Vec<_> = records
        .iter()
        .map(|record| (record.head.time, record.head.id))
        .collect();
    expected.sort_unstable();
    let mut walked = Vec::new();
    store
        .for_each(&all(), &mut |record| {
            assert!(walked.len() < 1000, "it does not end");
            walked.push((record.head.time, record.head.id));
            Ok(())
        })
        .unwrap();
    assert_eq!(walked, expected);
    // They are shown as they are.
    let listed = store.list(&all()).unwrap();
    assert_eq!(listed[0].time.to_string(), "+294247-01-10T04:00:54.775807Z");
    // Another store does not take them, and takes the others.
    let other = crate::File::new();
    let mut other = other.open();
    let mut refused = 0;
    let inserted = copy(store.as_mut(), other.as_mut(), &all(), &mut |_, error| {
        assert_eq!(error.code(), "HIS0019", "{error}");
        refused += 1;
    })
    .unwrap();
    assert_eq!((inserted.added, refused), (10, 250));
}
