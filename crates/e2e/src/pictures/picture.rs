//! A picture as pixels, and the difference between two pictures of pages.
//!
//! Must not know pages. Invariant: two pictures are compared by the colours of blocks of many pixels, each with
//! the blocks near it, so that another font makes no difference, but charts, colours and missing parts do.

/// Pixels of a stored picture per compared block, in each direction.
const COMPARED_BLOCK: u32 = 4;
/// Maximum difference between the colours of two blocks, of 255.
const DIFFERENCE_MAX: u8 = 24;
/// Maximum vertical distance of a matching block, in blocks: lines of another font differ in height.
const SHIFT_MAX: u32 = 4;

/// A picture with three colours per pixel.
#[derive(Clone, Debug)]
pub struct Picture {
    width: u32,
    height: u32,
    pixels: Vec<[u8; 3]>,
}

impl Picture {
    /// Reads PNG.
    ///
    /// # Panics
    /// It is not PNG, or not eight bits for each of three or four colours.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Picture {
        let decoder = png::Decoder::new(std::io::Cursor::new(bytes));
        let mut reader = decoder.read_info().expect("a picture");
        let size = reader.output_buffer_size().expect("it fits into memory");
        let mut buffer = vec![0; size];
        let info = reader.next_frame(&mut buffer).expect("a picture");
        assert_eq!(info.bit_depth, png::BitDepth::Eight);
        let samples = info.color_type.samples();
        assert!(samples >= 3, "{:?}", info.color_type);
        let pixels = buffer[..info.buffer_size()].chunks_exact(samples);
        Picture {
            width: info.width,
            height: info.height,
            pixels: pixels.map(|one| [one[0], one[1], one[2]]).collect(),
        }
    }

    /// As compressed PNG.
    ///
    /// # Panics
    /// Never: it is written to memory.
    #[must_use]
    pub fn written(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut encoder = png::Encoder::new(&mut out, self.width, self.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::High);
        let mut writer = encoder.write_header().expect("memory takes all");
        let bytes: Vec<u8> = self.pixels.iter().flatten().copied().collect();
        writer.write_image_data(&bytes).expect("memory takes all");
        drop(writer);
        out
    }

    /// The same with one pixel per block of this size in each direction; incomplete blocks at the edges are cut
    /// off.
    #[must_use]
    pub fn reduced(&self, block: u32) -> Picture {
        let (width, height) = (self.width / block, self.height / block);
        let mean = |x: u32, y: u32| {
            let mut sums = [0_u32; 3];
            for row in y * block..(y + 1) * block {
                for column in x * block..(x + 1) * block {
                    for (sum, value) in sums.iter_mut().zip(self.at(column, row)) {
                        *sum += u32::from(value);
                    }
                }
            }
            sums.map(|sum| u8::try_from(sum / (block * block)).expect("a mean of bytes"))
        };
        let places = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        Picture {
            width,
            height,
            pixels: places.map(|(x, y)| mean(x, y)).collect(),
        }
    }

    /// The difference between two pictures of pages: the share of the blocks of one without a match near their
    /// position in the other; 1 if their sizes differ.
    #[must_use]
    pub fn difference(&self, other: &Picture) -> f64 {
        if (self.width, self.height) != (other.width, other.height) {
            return 1.0;
        }
        let [one, other] = [self, other].map(|picture| picture.reduced(COMPARED_BLOCK));
        one.missing_in(&other).max(other.missing_in(&one))
    }

    /// The share of the pixels without a match in another picture of the same size.
    fn missing_in(&self, other: &Picture) -> f64 {
        let is_missing = |x: u32, y: u32| {
            let pixel = self.at(x, y);
            let mut near = y.saturating_sub(SHIFT_MAX)..(y + SHIFT_MAX + 1).min(self.height);
            !near.any(|row| {
                let colours = pixel.iter().zip(other.at(x, row));
                let apart = colours.map(|(a, b)| a.abs_diff(b));
                apart.max() <= Some(DIFFERENCE_MAX)
            })
        };
        let places = (0..self.height).flat_map(|y| (0..self.width).map(move |x| (x, y)));
        let missing = places.filter(|(x, y)| is_missing(*x, *y)).count();
        missing as f64 / self.pixels.len() as f64
    }

    fn at(&self, x: u32, y: u32) -> [u8; 3] {
        self.pixels[(y * self.width + x) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(width: u32, height: u32, grey: u8) -> Picture {
        let pixels = vec![[grey; 3]; (width * height) as usize];
        Picture {
            width,
            height,
            pixels,
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let mut picture = plain(5, 3, 7);
        picture.pixels[4] = [1, 2, 3];
        let read = Picture::read(&picture.written());
        assert_eq!((read.width, read.height), (5, 3));
        assert_eq!(read.pixels, picture.pixels);
    }

    /// A picture with a band of another grey, starting at a row.
    fn banded(from: usize, rows: usize) -> Picture {
        let mut picture = plain(32, 160, 200);
        for pixel in picture.pixels.iter_mut().skip(32 * from).take(32 * rows) {
            *pixel = [120; 3];
        }
        picture
    }

    #[test]
    fn blocks_are_compared_and_not_pixels() {
        let one = plain(32, 160, 200);
        let mut other = one.clone();
        // A letter: one pixel in a block of sixteen.
        other.pixels[0] = [0; 3];
        assert_eq!(one.difference(&other), 0.0);
        assert_eq!(one.difference(&banded(0, 16)), 0.1);
        assert_eq!(one.difference(&plain(32, 159, 200)), 1.0);
    }

    #[test]
    fn what_moved_a_little_is_found_and_what_moved_far_is_not() {
        let one = banded(0, 8);
        assert_eq!(one.difference(&banded(16, 8)), 0.0);
        assert_eq!(one.difference(&banded(24, 8)), 0.05);
    }
}
