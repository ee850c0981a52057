//! How the weights in `models/all-minilm-l6-v2/` were made: every f32 tensor of a safetensors file rounded to f16.
//!
//! ```text
//! cargo run --release --example round_weights -- SOURCE/model.safetensors models/all-minilm-l6-v2/model.safetensors
//! ```
//!
//! Rounding is to the nearest f16, ties to even, as IEEE 754 has it. Tensors of other types, such as the position
//! numbers of BERT, and the metadata are copied as they are. The order of the tensors follows from their names and
//! types alone, so the same source always gives the same bytes; the sums printed at the end are those recorded in
//! `ORIGIN.md`.

use std::error::Error;
use std::{env, fs};

use half::f16;
use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};
use sha2::{Digest, Sha256};

fn main() -> Result<(), Box<dyn Error>> {
    let [source, target] = env::args().skip(1).collect::<Vec<_>>().try_into().map_err(|_| "usage: SOURCE TARGET")?;
    let bytes = fs::read(&source)?;
    let rounded = round(&bytes)?;
    fs::write(&target, &rounded)?;
    println!("{}  {source}", sha256(&bytes));
    println!("{}  {target}", sha256(&rounded));
    Ok(())
}

/// The same safetensors file with f16 in the place of f32.
fn round(source: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
    let (_, header) = SafeTensors::read_metadata(source)?;
    let tensors = SafeTensors::deserialize(source)?;

    // A view borrows its bytes, so the rounded ones need a home first.
    let mut halves = Vec::with_capacity(tensors.len());
    for (name, tensor) in tensors.iter() {
        let data = match tensor.dtype() {
            Dtype::F32 => to_f16(tensor.data()).ok_or_else(|| format!("{name} has a value f16 cannot hold"))?,
            _ => tensor.data().to_vec(),
        };
        halves.push((name, tensor, data));
    }

    let views = halves.iter().map(|(name, tensor, data)| {
        let dtype = if tensor.dtype() == Dtype::F32 { Dtype::F16 } else { tensor.dtype() };
        Ok((*name, TensorView::new(dtype, tensor.shape().to_vec(), data)?))
    });
    let views = views.collect::<Result<Vec<_>, Box<dyn Error>>>()?;
    Ok(serialize(views, header.metadata().clone())?)
}

/// Little-endian f32 to little-endian f16; `None` if a value is not finite in f16.
fn to_f16(data: &[u8]) -> Option<Vec<u8>> {
    let (values, _) = data.as_chunks::<4>();
    let mut rounded = Vec::with_capacity(data.len() / 2);
    for &value in values {
        let half = f16::from_f32(f32::from_le_bytes(value));
        rounded.extend(half.is_finite().then(|| half.to_le_bytes())?);
    }
    Some(rounded)
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}
