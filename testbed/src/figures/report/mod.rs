//! From recordings to files: figures as SVG and PNG, one page that needs nothing else, and a summary for programs.

mod html;
mod summary;

use super::catalogue;
use super::compose::compose;
use super::data::Data;
use super::figure::Figure;
use super::plot;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

pub use summary::Summary;

/// A figure that is drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawn {
    /// Its declaration.
    pub figure: &'static Figure,
    /// The SVG document.
    pub svg: String,
}

/// Draws every figure for which there are samples.
pub fn draw(data: &Data) -> Vec<Drawn> {
    catalogue::ALL
        .iter()
        .filter_map(|figure| {
            let plot = compose(figure, data)?;
            let svg = plot::svg(&plot, figure.id);
            Some(Drawn { figure, svg })
        })
        .collect()
}

/// Writes figures to the folder `dir`, as SVG and as PNG.
///
/// # Errors
/// When the folder cannot be written to.
pub fn write_figures(dir: &Path, drawn: &[Drawn]) -> Result<()> {
    std::fs::create_dir_all(dir).with_context(|| format!("cannot make the folder {}", dir.display()))?;
    for Drawn { figure, svg } in drawn {
        let path = dir.join(figure.id);
        write(&path.with_extension("svg"), svg.as_bytes())?;
        write(&path.with_extension("png"), &plot::png(svg, PIXELS)?)?;
    }
    Ok(())
}

/// Writes `report.html` and `summary.json` to the folder `dir`, and tells where the page is.
///
/// # Errors
/// When the folder cannot be written to.
pub fn write_report(dir: &Path, data: &Data, drawn: &[Drawn]) -> Result<PathBuf> {
    let summary = Summary::of(data);
    let page = dir.join("report.html");
    write(&page, html::page(data, &summary, drawn).as_bytes())?;
    write(&dir.join("summary.json"), summary.text()?.as_bytes())?;
    Ok(page)
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}

/// Pixels of a PNG for each unit of the SVG.
const PIXELS: f32 = 1.5;

#[cfg(test)]
mod tests;
