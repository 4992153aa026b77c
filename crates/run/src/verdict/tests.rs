//! Cases: runs built from published numbers, and runs that show one thing each.

mod beside_the_limit;
pub(crate) mod builder;
mod carried;
mod cases;
mod elsewhere;
mod generator;
mod kinds;
mod moments;
mod names;
mod on_the_way;
mod one_thing;
mod pace;
mod pages;
mod paths;
mod queues;
mod resources;
mod scripts;
mod unanswered;
mod unconnected;
mod unusual;
mod weighing;
