//! k6's archives: a script with everything that it was made of, in one file.
