//! Cases: runs made of numbers that people published, and runs made to show one thing each.

mod builder;
mod cases;
mod one_thing;
mod pages;
mod scripts;
