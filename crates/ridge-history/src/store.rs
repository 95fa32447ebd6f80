//! What every store does.

use crate::{Error, Filter, Head, Id, Observation, Record, Series, SeriesKey, Timestamp};

/// What became of records that were to be stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inserted {
    /// Those that are new.
    pub added: u64,
    /// Those that were there already.
    pub known: u64,
}

impl std::ops::AddAssign for Inserted {
    fn add_assign(&mut self, other: Self) {
        self.added += other.added;
        self.known += other.known;
    }
}

/// A store of results.
///
/// All stores pass the same suite of tests (`tests/conformance`). Methods take `&mut self`, since a client of a server has
/// one conversation at a time; several processes may use one store.
pub trait Store {
    /// Where it is, for people: without a password.
    fn place(&self) -> &str;

    /// Why it cannot be written to; `None` where it can.
    fn refuses_writes(&self) -> Option<Error>;

    /// Stores records. Either all are stored when it returns, or none. What is there already stays as it is.
    ///
    /// # Errors
    /// When the store cannot be written to.
    fn insert(&mut self, records: &[Record]) -> Result<Inserted, Error>;

    /// The results without their documents, newest first; of the same time, in the order of identifiers.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn list(&mut self, filter: &Filter) -> Result<Vec<Head>, Error>;

    /// How many there are.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn count(&mut self, filter: &Filter) -> Result<u64, Error>;

    /// A whole result; `None` where there is none of this identifier.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn get(&mut self, id: Id) -> Result<Option<Record>, Error>;

    /// The newest result; `None` where there is none. A baseline is looked up with it: by label, commit or branch.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn latest(&mut self, filter: &Filter) -> Result<Option<Head>, Error> {
        let newest = Filter {
            limit: Some(1),
            ..filter.clone()
        };
        Ok(self.list(&newest)?.pop())
    }

    /// The series that results have, in the order of their keys.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn series(&mut self, filter: &Filter) -> Result<Vec<Series>, Error>;

    /// The points of a series, oldest first; of the same time, in the order of identifiers.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn points(&mut self, series: &SeriesKey, filter: &Filter) -> Result<Vec<Observation>, Error>;

    /// Whole results behind one that was seen, oldest first, at most so many. The filter's limit is not looked at.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn page(
        &mut self,
        filter: &Filter,
        behind: Option<(Timestamp, Id)>,
        most: u64,
    ) -> Result<Vec<Record>, Error>;

    /// Hands whole results to a function, oldest first, with no more than some of them in memory. An error of the function
    /// ends it.
    ///
    /// # Errors
    /// When the store cannot be read, or the function does not want to go on.
    fn for_each(
        &mut self,
        filter: &Filter,
        visit: &mut dyn FnMut(Record) -> Result<(), Error>,
    ) -> Result<(), Error> {
        /// Results that are read at once. Page by page, so that no reader holds up a writer for as long as the visitor takes.
        const PAGE: u64 = 200;
        if filter.limit.is_some() {
            // The newest, which are not the first ones.
            for head in self.list(filter)?.iter().rev() {
                if let Some(record) = self.get(head.id)? {
                    visit(record)?;
                }
            }
            return Ok(());
        }
        let mut behind = None;
        loop {
            let records = self.page(filter, behind, PAGE)?;
            let Some(last) = records.last() else {
                return Ok(());
            };
            let reached = (last.head.time, last.head.id);
            // What does not move on would never end. Only a store that contradicts itself gives that.
            if behind.is_some_and(|behind| behind >= reached) {
                return Err(Error::Damaged {
                    place: self.place().to_owned(),
                    reason: format!("results behind {} come again", reached.1.short()),
                });
            }
            behind = Some(reached);
            for record in records {
                visit(record)?;
            }
        }
    }

    /// Removes results with their points and documents. How many there were.
    ///
    /// # Errors
    /// When the store cannot be written to.
    fn prune(&mut self, filter: &Filter) -> Result<u64, Error>;
}

/// Copies results from one store to another. What is there already is left out. What the other one does not take, such as results
/// of a time that cannot be, is told and left out too.
///
/// # Errors
/// When one cannot be read or the other not written to; batches before that are stored.
pub fn copy(
    from: &mut dyn Store,
    to: &mut dyn Store,
    filter: &Filter,
    refused: &mut dyn FnMut(Id, Error),
) -> Result<Inserted, Error> {
    let mut batch = Batch::new(to);
    from.for_each(filter, &mut |record| {
        let id = record.head.id;
        match batch.add(record) {
            Err(error @ Error::Implausible(_)) => {
                refused(id, error);
                Ok(())
            }
            other => other,
        }
    })?;
    batch.finish()
}

/// Collects records and stores many of them in one transaction.
pub struct Batch<'s> {
    store: &'s mut dyn Store,
    waiting: Vec<Record>,
    bytes: usize,
    inserted: Inserted,
}

impl<'s> Batch<'s> {
    /// A transaction costs as much as some hundred records: 1000 make that small.
    const MOST: usize = 1000;
    /// Documents of one transaction, so that memory stays small.
    const MOST_BYTES: usize = 16 << 20;

    /// An empty one for a store.
    pub fn new(store: &'s mut dyn Store) -> Self {
        Self {
            store,
            waiting: Vec::new(),
            bytes: 0,
            inserted: Inserted::default(),
        }
    }

    /// Adds a record, and stores those that wait when they are many.
    ///
    /// # Errors
    /// When the store cannot be written to. When the time of the record cannot be: it is not stored, and the others are.
    pub fn add(&mut self, record: Record) -> Result<(), Error> {
        if !record.head.time.is_plausible() {
            return Err(Error::Implausible(record.head.time));
        }
        self.bytes += record.document.bytes().len();
        self.waiting.push(record);
        if self.waiting.len() >= Self::MOST || self.bytes >= Self::MOST_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    /// Stores what still waits. What became of all of them.
    ///
    /// # Errors
    /// When the store cannot be written to.
    pub fn finish(mut self) -> Result<Inserted, Error> {
        self.flush()?;
        Ok(self.inserted)
    }

    fn flush(&mut self) -> Result<(), Error> {
        if !self.waiting.is_empty() {
            self.inserted += self.store.insert(&self.waiting)?;
            self.waiting.clear();
            self.bytes = 0;
        }
        Ok(())
    }
}
