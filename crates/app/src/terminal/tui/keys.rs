//! The effects of keys.
//!
//! Must not know the view. Invariant: Ctrl-C stops, as everywhere: a terminal in raw mode sends no signal.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::shown::Body;

/// The effect of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Let running iterations end; the second time, stop at once.
    Stop,
    /// Pause or resume.
    Pause,
    /// Show or hide the help for keys.
    Help,
    /// Replace the charts by something else, or show them again.
    Show(Body),
    /// Hide the help, otherwise go back to the charts.
    Close,
}

/// The effect of a key; `None`: none.
pub(super) fn action(key: &KeyEvent) -> Option<Action> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    let has_control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Char('c') if has_control => Some(Action::Stop),
        _ if has_control => None,
        KeyCode::Char('q' | 'Q') => Some(Action::Stop),
        KeyCode::Char('p' | 'P' | ' ') => Some(Action::Pause),
        KeyCode::Char('?' | 'h') | KeyCode::F(1) => Some(Action::Help),
        KeyCode::Char('d' | 'D') => Some(Action::Show(Body::Distribution)),
        KeyCode::Char('n' | 'N') => Some(Action::Show(Body::Names)),
        KeyCode::Esc => Some(Action::Close),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_what_they_do() {
        let of = |code, modifiers| action(&KeyEvent::new(code, modifiers));
        let plain = |c| of(KeyCode::Char(c), KeyModifiers::NONE);
        assert_eq!(
            of(KeyCode::Char('c'), KeyModifiers::CONTROL),
            Some(Action::Stop)
        );
        assert_eq!(of(KeyCode::Char('q'), KeyModifiers::CONTROL), None);
        assert_eq!(
            ["q", "p", "?", "x"].map(|key| plain(key.chars().next().expect("a key"))),
            [
                Some(Action::Stop),
                Some(Action::Pause),
                Some(Action::Help),
                None
            ]
        );
        assert_eq!(plain('d'), Some(Action::Show(Body::Distribution)));
        assert_eq!(plain('n'), Some(Action::Show(Body::Names)));
        assert_eq!(of(KeyCode::Esc, KeyModifiers::NONE), Some(Action::Close));
    }
}
