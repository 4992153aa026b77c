//! Listeners: they receive the samples in their scope.
//!
//! Must not know what is written for a sample. Invariant: a listener that only shows samples in a window
//! becomes one without a file.

use loadline_steps::listener::{
    AnswerSaver, BackendKind, BackendListener, FileListener, Listener, ListenerId, Wanted,
};

use super::{Lowering, enabled};
use crate::tree::{Element, Properties, Property};

/// Listeners that write to a file, if one is set: JMeter's own, and those of plugins, with any window.
const FILE_CLASSES: [&str; 2] = ["ResultCollector", "CorrectedResultCollector"];

/// Whether an element is a listener without effect outside of a window: it has no file.
pub(super) fn is_mute(element: &Element) -> bool {
    FILE_CLASSES.contains(&element.class.as_str()) && element.text("filename").is_empty()
}

/// Whether a class is a listener.
pub(super) fn is_listener(class: &str) -> bool {
    matches!(class, "ResultSaver" | "Summariser" | "BackendListener")
        || FILE_CLASSES.contains(&class)
}

impl Lowering {
    /// Reads all listeners in tree order, wherever they are.
    pub(super) fn all_listeners(&mut self, elements: &[Element]) {
        for element in enabled(elements) {
            self.within(element, |lowering| {
                if is_listener(&element.class) {
                    let listener = lowering.read_listener(element);
                    let place = std::ptr::from_ref(element);
                    lowering.listeners.insert(place, listener);
                }
                lowering.all_listeners(&element.children);
            });
        }
    }

    /// The index of a listener in the program; `None`: it has no effect.
    pub(super) fn listener(&mut self, element: &Element) -> Option<ListenerId> {
        match self.listeners.get(&std::ptr::from_ref(element)) {
            Some(known) => *known,
            None => self.read_listener(element),
        }
    }

    fn read_listener(&mut self, element: &Element) -> Option<ListenerId> {
        let listener = match element.class.as_str() {
            "ResultSaver" => Listener::Saver(self.answer_saver(element)),
            "Summariser" => Listener::Summary(self.text(element, &element.name)),
            "BackendListener" => Listener::Backend(self.backend(element)?),
            _ => Listener::File(self.file_listener(element)?),
        };
        let listeners = &mut self.reading.program.listeners;
        listeners.push(listener);
        Some(listeners.len() - 1)
    }

    /// `None`: it has no file, and so no effect outside of a window.
    fn file_listener(&mut self, element: &Element) -> Option<FileListener> {
        let file = element.find_text("filename");
        let file = file.filter(|name| !name.is_empty())?.to_owned();
        Some(FileListener {
            file: self.text(element, &file),
            wanted: Wanted {
                failed: element.is_true("ResultCollector.error_logging"),
                good: element.is_true("ResultCollector.success_only_logging"),
            },
            switches: switches(element),
        })
    }

    fn backend(&mut self, element: &Element) -> Option<BackendListener> {
        let class = element.text("classname").trim().to_owned();
        let kind = match class.rsplit('.').next().unwrap_or_default() {
            "InfluxdbBackendListenerClient" => BackendKind::Influx,
            "GraphiteBackendListenerClient" => BackendKind::Graphite,
            _ => {
                self.unsupported(element, format!("BackendListener of class {class}"));
                return None;
            }
        };
        let arguments = element.group("arguments").group("Arguments.arguments");
        let arguments = arguments.iter().map(Property::inner).map(|argument| {
            let name = argument.text("Argument.name").to_owned();
            (name, self.text(element, argument.text("Argument.value")))
        });
        Some(BackendListener {
            name: element.name.clone(),
            kind,
            arguments: arguments.collect(),
        })
    }

    fn answer_saver(&mut self, element: &Element) -> AnswerSaver {
        AnswerSaver {
            id: self.id_of(element),
            prefix: self.property(element, "FileSaver.filename"),
            failed_only: element.is_true("FileSaver.errorsonly"),
            good_only: element.is_true("FileSaver.successonly"),
            skips_transactions: element.is_true_or_missing("FileSaver.ignoreTC"),
            has_timestamp: element.is_true("FileSaver.addTimstamp"),
            is_numbered: !element.is_true("FileSaver.skipautonumber"),
            digits: self.property(element, "FileSaver.numberPadLen"),
            has_suffix: !element.is_true("FileSaver.skipsuffix"),
            variable: self.property(element, "FileSaver.variablename"),
        }
    }
}

/// The settings in a listener's `saveConfig`; `None`: it has none.
fn switches(element: &Element) -> Option<Vec<(String, String)>> {
    let properties = element.properties.iter().map(Property::inner);
    let config = properties
        .filter(|inner| inner.text("name") == "saveConfig")
        .map(|inner| inner.group("value"))
        .next()?;
    let switches = config.iter().map(|switch| {
        let text = switch.as_text().to_owned();
        (switch.name.clone(), text)
    });
    // The plugins' listeners always include thread counts.
    let of_plugin = (element.class != "ResultCollector").then_some(("threadCounts", "true"));
    let of_plugin = of_plugin.map(|(name, text)| (name.to_owned(), text.to_owned()));
    Some(of_plugin.into_iter().chain(switches).collect())
}
