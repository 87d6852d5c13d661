//! From SVG to PNG, with a font of its own: a server may have none.

use anyhow::{Context, Result};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};
use std::sync::Arc;

/// Renders an SVG document, each unit of it as `scale` pixels.
///
/// # Errors
/// When it is no SVG, or too large.
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>> {
    let mut options = Options::default();
    let fonts = Arc::make_mut(&mut options.fontdb);
    fonts.load_font_data(dejavu::sans::regular().to_vec());
    fonts.load_font_data(dejavu::sans::bold().to_vec());
    fonts.set_sans_serif_family("DejaVu Sans");
    let tree = Tree::from_str(svg, &options).context("a figure is no SVG")?;
    let size = tree
        .size()
        .to_int_size()
        .scale_by(scale)
        .context("a figure of this size cannot be drawn")?;
    let mut pixels =
        Pixmap::new(size.width(), size.height()).context("a figure of this size cannot be drawn")?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().context("a figure cannot be written as PNG")
}
