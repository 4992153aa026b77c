//! The lines of a Random CSV Data Set: each once per round, in file order or shuffled.
//!
//! Must not know threads. Invariant: no line is returned twice in a round.

use crate::csv::{CsvLines, Drawn, Settings};
use crate::host::Host;

/// The lines of a file, and those remaining in the current round.
#[derive(Debug, Default)]
pub(crate) struct Deck {
    names: Vec<String>,
    rows: Vec<Vec<String>>,
    order: Vec<usize>,
    next: usize,
}

impl Deck {
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read.
    pub(crate) fn read(
        host: &dyn Host,
        file: &str,
        settings: &Settings,
        is_random: bool,
    ) -> Result<Deck, String> {
        let (names, rows) = CsvLines::whole(host, file, settings)?;
        let mut deck = Deck {
            order: (0..rows.len()).collect(),
            names,
            rows,
            next: 0,
        };
        if is_random {
            deck.shuffle(host);
        }
        Ok(deck)
    }

    /// The values of the next line; `None`: the round is over, and there is no further one.
    pub(crate) fn draw(
        &mut self,
        host: &dyn Host,
        is_random: bool,
        recycle: bool,
    ) -> Option<Drawn> {
        if self.next >= self.order.len() && recycle {
            self.next = 0;
            if is_random {
                self.shuffle(host);
            }
        }
        let row = &self.rows[*self.order.get(self.next)?];
        self.next += 1;
        let values = self.names.iter().cloned().zip(row.iter().cloned());
        Some(values.collect())
    }

    fn shuffle(&mut self, host: &dyn Host) {
        for last in (1..self.order.len()).rev() {
            let other = host.random_below(last as u64 + 1);
            self.order.swap(last, usize::try_from(other).unwrap_or(0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::csv::delimiter;
    use crate::testing::Desk;

    fn settings() -> Settings {
        Settings {
            encoding: String::new(),
            names: "a,b".to_owned(),
            ignore_first_line: false,
            delimiter: delimiter(","),
            quoted: true,
            recycle: false,
        }
    }

    fn desk() -> Desk {
        let desk = Desk::default();
        let text = b"1,x\n2\n\n\"3,3\",y,z\n".to_vec();
        desk.files.borrow_mut().insert("f.csv".to_owned(), text);
        desk
    }

    fn first(drawn: Option<Drawn>) -> Option<String> {
        drawn.and_then(|values| values.into_iter().next().map(|(_, value)| value))
    }

    #[test]
    fn lines_come_in_the_order_of_the_file() {
        let desk = desk();
        let mut deck = Deck::read(&desk, "f.csv", &settings(), false).expect("it is there");
        let drawn = deck.draw(&desk, false, false).expect("a line");
        assert_eq!(
            drawn,
            [
                ("a".to_owned(), "1".to_owned()),
                ("b".to_owned(), "x".to_owned())
            ]
        );
        let rest = std::iter::from_fn(|| first(deck.draw(&desk, false, false)));
        assert_eq!(rest.collect::<Vec<_>>(), ["2", "", "3,3"]);
        assert_eq!(first(deck.draw(&desk, false, true)).as_deref(), Some("1"));
    }

    #[test]
    fn by_chance_each_line_comes_once_in_a_round() {
        let desk = desk();
        let mut deck = Deck::read(&desk, "f.csv", &settings(), true).expect("it is there");
        for _ in 0..3 {
            let mut round: Vec<_> = (0..4)
                .filter_map(|_| first(deck.draw(&desk, true, true)))
                .collect();
            round.sort();
            assert_eq!(round, ["", "1", "2", "3,3"]);
        }
        assert!(
            Deck::read(&desk, "gone.csv", &settings(), true).is_err(),
            "no file"
        );
    }
}
