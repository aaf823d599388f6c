//! `kiln schema`

use super::terminal::print;
use crate::bake::Failure;
use crate::scene;

pub fn run() -> Result<(), Failure> {
    print(&format!("{:#}\n", scene::schema()))
}
