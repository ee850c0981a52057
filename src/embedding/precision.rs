//! In which numbers the encoder computes.

use std::fmt;
use std::str::FromStr;

use super::encoder::int8_is_faster;

/// How exactly a model's linear layers are computed.
///
/// ```
/// use horchunk::{ModelLoader, ModelSource, Precision};
///
/// let fast = ModelLoader::new(ModelSource::Bundled).with_precision(Precision::Int8).load()?;
/// assert_eq!(fast.info().precision, Precision::Int8);
/// # Ok::<(), horchunk::ModelError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Precision {
    /// In 32-bit floats.
    #[default]
    F32,
    /// In 8-bit whole numbers, rounded anew for every row and every channel: faster where the processor has VNNI, slower
    /// elsewhere; similarities differ a little.
    Int8,
    /// Decisions in 8 bits, and again in floats where a similarity lies within 0.025 of the threshold; vectors always in
    /// floats. The similarities of decisions further away are those in 8 bits. The margin was measured on the bundled
    /// model, whose cuts are those in floats; other models may stray further. The same as floats where the processor
    /// has no VNNI.
    Checked,
}

impl Precision {
    /// Whether this processor has the instructions that make it fast (for 8 bits: AVX-512 VNNI). Without them it gives
    /// the same vectors, slowly, and [`Precision::Checked`] computes in floats alone.
    #[must_use]
    pub fn is_accelerated(self) -> bool {
        self == Self::F32 || int8_is_faster()
    }
}

/// No precision has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown precision {0:?}: take f32, int8 or checked")]
pub struct UnknownPrecision(pub String);

impl FromStr for Precision {
    type Err = UnknownPrecision;

    fn from_str(name: &str) -> Result<Self, UnknownPrecision> {
        match name {
            "f32" => Ok(Self::F32),
            "int8" => Ok(Self::Int8),
            "checked" => Ok(Self::Checked),
            _ => Err(UnknownPrecision(name.to_owned())),
        }
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::F32 => "f32",
            Self::Int8 => "int8",
            Self::Checked => "checked",
        })
    }
}
