//! The schedule of an Open Model group: a text of rates and times, such as `rate(10/min) random_arrivals(5
//! min)`.
//!
//! Must not know threads. Invariant: parsed rates and times are finite and not negative.
//!
//! Source: JMeter's manual, "Open Model Thread Group", and the behaviour of JMeter 5.6.3.

/// A period with arrivals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OpenLeg {
    /// Arrivals per second at its start.
    pub from_per_s: f64,
    /// Arrivals per second at its end.
    pub to_per_s: f64,
    /// Its duration, in seconds.
    pub lasts_s: f64,
    /// Whether arrivals are random.
    pub by_chance: bool,
}

/// Maximum duration in seconds: ten years.
const TIME_MAX_S: f64 = 315_360_000.0;

#[derive(Clone, Copy, Debug)]
enum Step {
    Rate(f64),
    Arrivals { by_chance: bool, lasts_s: f64 },
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    Number(f64),
    Sign(char),
}

/// Parses a schedule.
///
/// # Errors
/// The invalid part, with its position.
pub fn read(text: &str) -> Result<Vec<OpenLeg>, String> {
    if let Ok(count) = text.parse::<i32>() {
        // A single number means this many arrivals at once, with an hour for them to end.
        return Ok(legs(&[
            Step::Rate(f64::from(count.max(0))),
            Step::Arrivals {
                by_chance: false,
                lasts_s: 1.0,
            },
            Step::Rate(f64::from(count.max(0))),
            Step::Rate(0.0),
            Step::Arrivals {
                by_chance: false,
                lasts_s: 3600.0,
            },
        ]));
    }
    let mut reader = Reader {
        tokens: tokens(text)?,
        at: 0,
    };
    let mut steps = Vec::new();
    let mut last_rate = 0.0;
    while let Some((place, token)) = reader.take() {
        let Token::Word(word) = &token else {
            return Err(unexpected(
                place,
                "rate, random_arrivals, even_arrivals or pause",
            ));
        };
        match word.to_ascii_lowercase().as_str() {
            "rate" => {
                last_rate = reader.rate()?;
                steps.push(Step::Rate(last_rate));
            }
            "random_arrivals" | "even_arrivals" => steps.push(Step::Arrivals {
                by_chance: word.eq_ignore_ascii_case("random_arrivals"),
                lasts_s: reader.span()?,
            }),
            "pause" => {
                let pause = Step::Arrivals {
                    by_chance: false,
                    lasts_s: reader.span()?,
                };
                match last_rate == 0.0 {
                    true => steps.extend([pause, Step::Rate(0.0)]),
                    false => steps.extend([
                        Step::Rate(last_rate),
                        Step::Rate(0.0),
                        pause,
                        Step::Rate(0.0),
                        Step::Rate(last_rate),
                    ]),
                }
            }
            _ => {
                return Err(unexpected(
                    place,
                    "rate, random_arrivals, even_arrivals or pause",
                ));
            }
        }
    }
    Ok(legs(&steps))
}

/// The rate after a leg is its final rate; without one the leg's rate is constant.
fn legs(steps: &[Step]) -> Vec<OpenLeg> {
    let mut rate = 0.0;
    let mut legs = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        match *step {
            Step::Rate(next) => rate = next,
            Step::Arrivals { by_chance, lasts_s } => legs.push(OpenLeg {
                from_per_s: rate,
                to_per_s: match steps.get(index + 1) {
                    Some(Step::Rate(next)) => *next,
                    _ => rate,
                },
                lasts_s,
                by_chance,
            }),
        }
    }
    legs
}

fn unexpected(place: usize, wanted: &str) -> String {
    format!("expected {wanted} at character {}", place + 1)
}

struct Reader {
    tokens: Vec<(usize, Token)>,
    at: usize,
}

impl Reader {
    fn take(&mut self) -> Option<(usize, Token)> {
        let token = self.tokens.get(self.at).cloned();
        self.at += 1;
        token
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(_, token)| token)
    }

    fn place(&self) -> usize {
        let token = self.tokens.get(self.at).or(self.tokens.last());
        token.map_or(0, |(place, _)| *place)
    }

    fn expect(&mut self, sign: char) -> Result<(), String> {
        let place = self.place();
        match self.take() {
            Some((_, Token::Sign(found))) if found == sign => Ok(()),
            _ => Err(unexpected(place, &format!("'{sign}'"))),
        }
    }

    fn number(&mut self) -> Result<f64, String> {
        let place = self.place();
        match self.take() {
            Some((_, Token::Number(number))) => Ok(number),
            _ => Err(unexpected(place, "a number")),
        }
    }

    /// Parses `(10/min)` to arrivals per second.
    fn rate(&mut self) -> Result<f64, String> {
        self.expect('(')?;
        let number = self.number()?;
        if number == 0.0 && self.peek() == Some(&Token::Sign(')')) {
            self.expect(')')?;
            return Ok(0.0);
        }
        let place = self.place();
        match self.take() {
            Some((_, Token::Sign('/'))) => {}
            Some((_, Token::Word(word))) if word.eq_ignore_ascii_case("per") => {}
            _ => return Err(unexpected(place, "'/'")),
        }
        let unit_s = self.unit()?;
        self.expect(')')?;
        Ok(number / unit_s)
    }

    /// Parses `(5 min 30 sec)` to seconds.
    fn span(&mut self) -> Result<f64, String> {
        self.expect('(')?;
        let mut sum = 0.0;
        loop {
            let number = self.number()?;
            if number == 0.0 && self.peek() == Some(&Token::Sign(')')) {
                break;
            }
            sum += number * self.unit()?;
            if !matches!(self.peek(), Some(Token::Number(_))) {
                break;
            }
        }
        self.expect(')')?;
        Ok(f64::min(sum, TIME_MAX_S))
    }

    /// A unit of time, in seconds.
    fn unit(&mut self) -> Result<f64, String> {
        let place = self.place();
        let Some((_, Token::Word(word))) = self.take() else {
            return Err(unexpected(place, "a unit of time"));
        };
        let word = word.to_ascii_lowercase();
        let units = [
            ("sec", "s", 1.0),
            ("min", "m", 60.0),
            ("hour", "h", 3600.0),
            ("day", "d", 86_400.0),
        ];
        if word == "ms" {
            return Ok(0.001);
        }
        let found = units
            .iter()
            .find(|(long, short, _)| word == *short || word.starts_with(long));
        found
            .map(|(_, _, seconds)| *seconds)
            .ok_or_else(|| unexpected(place, "sec, min, hour or day"))
    }
}

/// Words, numbers and signs with their positions, without blanks and comments.
fn tokens(text: &str) -> Result<Vec<(usize, Token)>, String> {
    let chars: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&first) = chars.get(at) {
        let run = |from: usize, is_in: &dyn Fn(char) -> bool| {
            let length = chars[from..].iter().take_while(|found| is_in(**found));
            from + length.count()
        };
        let next = chars.get(at + 1).copied();
        let end = match first {
            _ if first.is_whitespace() => run(at, &char::is_whitespace),
            '/' if next == Some('/') => run(at, &|found| found != '\n' && found != '\r'),
            '/' if next == Some('*') => end_of_comment(&chars, at)?,
            '(' | ')' | '/' => {
                tokens.push((at, Token::Sign(first)));
                at + 1
            }
            '0'..='9' | '.' => {
                let digits = |found: char| found.is_ascii_digit();
                let mut end = run(at, &digits);
                let has_fraction = chars.get(end + 1).is_some_and(char::is_ascii_digit);
                if chars.get(end) == Some(&'.') && has_fraction {
                    end = run(end + 1, &digits);
                }
                let number: String = chars[at..end].iter().collect();
                let number = number.parse().map_err(|_| unexpected(at, "a number"))?;
                tokens.push((at, Token::Number(number)));
                end
            }
            _ if first.is_ascii_alphabetic() => {
                let end = run(at, &|found| found.is_ascii_alphanumeric() || found == '_');
                tokens.push((at, Token::Word(chars[at..end].iter().collect())));
                end
            }
            _ => return Err(unexpected(at, "a word or a number")),
        };
        at = end;
    }
    Ok(tokens)
}

fn end_of_comment(chars: &[char], at: usize) -> Result<usize, String> {
    let mut pairs = chars.windows(2).enumerate().skip(at + 2);
    pairs
        .find(|(_, pair)| *pair == ['*', '/'])
        .map(|(place, _)| place + 2)
        .ok_or_else(|| unexpected(at, "the end of a comment"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leg(from_per_s: f64, to_per_s: f64, lasts_s: f64, by_chance: bool) -> OpenLeg {
        OpenLeg {
            from_per_s,
            to_per_s,
            lasts_s,
            by_chance,
        }
    }

    #[test]
    fn a_leg_ends_with_the_rate_behind_it() {
        let text = "rate(0/min) even_arrivals(10 min) rate(60 per min)\nrandom_arrivals(1 min 30 sec) // so\n random_arrivals(.5 s) rate(3/S)";
        let legs = [
            leg(0.0, 1.0, 600.0, false),
            leg(1.0, 1.0, 90.0, true),
            leg(1.0, 3.0, 0.5, true),
        ];
        assert_eq!(read(text), Ok(legs.to_vec()));
    }

    #[test]
    fn a_pause_has_no_arrivals_and_keeps_the_rate() {
        let text = "rate(2/sec) even_arrivals(1s) /* then */ pause(2 s) even_arrivals(500 ms)";
        let legs = [
            leg(2.0, 2.0, 1.0, false),
            leg(0.0, 0.0, 2.0, false),
            leg(2.0, 2.0, 0.5, false),
        ];
        assert_eq!(read(text), Ok(legs.to_vec()));
        assert_eq!(read("pause(1 h)"), Ok(vec![leg(0.0, 0.0, 3600.0, false)]));
    }

    #[test]
    fn what_is_no_schedule_is_told_with_its_place() {
        for (text, place) in [
            ("rate(5)", "expected '/' at character 7"),
            (
                "rate(5/fortnight)",
                "expected sec, min, hour or day at character 8",
            ),
            ("even_arrivals 5", "expected '(' at character 15"),
            (
                "speed(5/s)",
                "expected rate, random_arrivals, even_arrivals or pause at character 1",
            ),
            (
                "rate(1/s) /* open",
                "expected the end of a comment at character 11",
            ),
            ("rate(1/s) #", "expected a word or a number at character 11"),
        ] {
            assert_eq!(read(text), Err(place.to_owned()), "{text}");
        }
        assert_eq!(read(""), Ok(Vec::new()));
    }
}
