//! `kiln render`: pictures of a bake, made without a screen.

mod film;
mod options;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, FromArgMatches};

use self::film::Film;
use self::options::{Background, CameraChoice, Colouring, GroundChoice, Metric, Size};
use super::switch;
use super::terminal::{counted, log, show_bytes};
use crate::bake::movie::Movie;
use crate::bake::{Exit, Failure};
use crate::cache::atomic::AtomicFile;
use crate::cache::manifest::Status;
use crate::render::encode::{self, LARGEST, MovingPng, MovingWebp};
use crate::render::picture::Picture;
use crate::render::sheet::{Sheet, columns_for};
use crate::scene::frames::parse_frames;

/// Files that are named one by one in the log.
const NAMED_FILES: usize = 12;

/// Which of the options that rule each other out were typed. What is only in the environment yields to them.
#[derive(Clone, Copy, Debug, Default)]
struct Typed {
    frame: bool,
    animate: bool,
}

impl FromArgMatches for Typed {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let typed = |name: &str| matches.value_source(name) == Some(ValueSource::CommandLine);
        for [one, other] in [["frame", "frames"], ["sheet", "animate"]] {
            if typed(one) && typed(other) {
                let cause = format!("the argument '--{one}' cannot be used with '--{other}'\n");
                return Err(clap::Error::raw(ErrorKind::ArgumentConflict, cause));
            }
        }
        if typed("columns") && matches.value_source("sheet").is_none() {
            let cause = "'--columns' are those of a sheet: add '--sheet <COUNT>'\n";
            return Err(clap::Error::raw(ErrorKind::MissingRequiredArgument, cause));
        }
        Ok(Typed { frame: typed("frame"), animate: typed("animate") })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for Typed {
    fn augment_args(command: clap::Command) -> clap::Command {
        command
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        command
    }
}

#[derive(Clone, Debug, Args)]
pub struct RenderArgs {
    // First: the others take what they read away.
    #[command(flatten)]
    typed: Typed,
    /// A job folder, its bake.kc or a .glb or .gltf file
    path: PathBuf,
    /// Where to: a .png, or a .webp, which holds all frames; several stills get their frame's number into their name [default: the
    /// scene's name in the current folder]
    #[arg(short, long, value_name = "FILE", env = "KILN_RENDER_OUT")]
    out: Option<PathBuf>,
    /// Frame to show [default: the last one]
    #[arg(long, value_name = "FRAME", env = "KILN_FRAME", allow_hyphen_values = true)]
    frame: Option<i64>,
    /// Frames to show, such as 1001-1100, 1001-1100x2 or 1,5,10-20 [default: all for moving pictures and sheets]
    #[arg(long, value_name = "RANGE", env = "KILN_RENDER_FRAMES", allow_hyphen_values = true)]
    frames: Option<String>,
    /// One picture with this many of the frames, side by side
    #[arg(long, value_name = "COUNT", env = "KILN_SHEET", value_parser = clap::value_parser!(u32).range(1..=1000))]
    sheet: Option<u32>,
    /// Columns of a sheet [default: about as wide as a page]
    #[arg(long, value_name = "COUNT", env = "KILN_COLUMNS", value_parser = clap::value_parser!(u32).range(1..=1000))]
    columns: Option<u32>,
    /// Once around in this many pictures, while the frames run, if there are several
    #[arg(long, value_name = "COUNT", env = "KILN_TURNTABLE", value_parser = clap::value_parser!(u32).range(2..=3600))]
    turntable: Option<u32>,
    /// One moving picture instead of stills; .webp and .apng are always that
    #[arg(long, env = "KILN_ANIMATE", value_parser = switch())]
    animate: bool,
    /// Width and height of a picture, of one of a sheet too [default: 1280x720; 640x360 moving; 480x360 in sheets]
    #[arg(long, value_name = "WIDTHxHEIGHT", env = "KILN_SIZE")]
    size: Option<Size>,
    /// Where to stand: auto, AZIMUTH,ELEVATION or AZIMUTH,ELEVATION,DISTANCE [degrees, m], or a place and what to look at: X,Y,Z:X,Y,Z
    #[arg(long, value_name = "CAMERA", env = "KILN_CAMERA", default_value = "auto", allow_hyphen_values = true)]
    camera: CameraChoice,
    /// Field of view from top to bottom [degrees]
    #[arg(long, value_name = "DEGREES", env = "KILN_FOV", default_value_t = crate::render::look::FIELD_OF_VIEW, value_parser = options::field_of_view)]
    fov: f64,
    /// What colours show
    #[arg(long, visible_alias = "color", value_name = "WHAT", env = "KILN_COLOUR", value_enum, default_value_t = Colouring::Object)]
    colour: Colouring,
    /// Lines along the edges of the mesh
    #[arg(long, env = "KILN_WIREFRAME", value_parser = switch())]
    wireframe: bool,
    /// Every triangle by itself
    #[arg(long, env = "KILN_FLAT", value_parser = switch())]
    flat: bool,
    /// Objects to leave out; can be repeated
    #[arg(long, value_name = "NAME", env = "KILN_HIDE", value_delimiter = ',')]
    hide: Vec<String>,
    /// Objects to show that are not shown by themselves, such as a cloth behind its render mesh; can be repeated
    #[arg(long, value_name = "NAME", env = "KILN_SHOW", value_delimiter = ',')]
    show: Vec<String>,
    /// Figures to write into the picture
    #[arg(long, value_name = "METRIC", env = "KILN_METRIC", value_enum, value_delimiter = ',')]
    metric: Vec<Metric>,
    /// Write the frame's number into the picture; sheets have it in any case
    #[arg(long, env = "KILN_FRAME_NUMBER", value_parser = switch())]
    frame_number: bool,
    /// What is behind everything: #RRGGBB, or #RRGGBB,#RRGGBB from top to bottom
    #[arg(long, value_name = "COLOUR", env = "KILN_BACKGROUND")]
    background: Option<Background>,
    /// What is below everything
    #[arg(long, value_name = "WHAT", env = "KILN_GROUND", value_enum, default_value_t = GroundChoice::Lines)]
    ground: GroundChoice,
    /// Samples a pixel, against stairs along edges: 1, 4, 8 or 16
    #[arg(long, value_name = "COUNT", env = "KILN_SAMPLES", default_value = "8", value_parser = options::samples)]
    samples: u32,
    /// Threads to use [default: RAYON_NUM_THREADS, or all cores]; the result does not depend on it
    #[arg(long, value_name = "N", env = "KILN_THREADS", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

/// What kind of file it becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Png,
    Webp,
}

/// One picture: a place in the movie's frames, and how far the camera has turned, in parts of a whole turn.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Shot {
    place: usize,
    turn: f64,
}

pub fn run(arguments: &RenderArgs) -> Result<(), Failure> {
    let threads = arguments.threads.map_or(0, usize::from); // 0 is rayon's word for its default
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| {
        Failure::new(Exit::InputOutput, format!("cannot start the threads: {error}"), "try fewer with --threads")
    })?;
    let mut arguments = arguments.clone();
    if arguments.typed.frame {
        arguments.frames = None;
    }
    if arguments.typed.animate {
        arguments.sheet = None;
    }
    pool.install(|| render(&arguments))
}

fn render(arguments: &RenderArgs) -> Result<(), Failure> {
    let movie = Movie::open(&arguments.path)?;
    if movie.frames.is_empty() {
        let remedy = match movie.status {
            Some(Status::Running) => "wait until the first one is stored",
            None => "bake or export it again with at least one frame",
            Some(_) => "bake it again with --restart",
        };
        return Err(Failure::new(Exit::InvalidInput, format!("{} has no frames", movie.path.display()), remedy));
    }
    if let (Some(Status::Running), Some(last)) = (movie.status, movie.frames.last()) {
        log(&format!("this bake is still running; it has come to frame {last}"));
    }
    let out = arguments.out.clone().unwrap_or_else(|| default_path(&movie));
    let extension = out.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let (format, moves) = match extension.as_str() {
        "png" => (Format::Png, arguments.animate),
        "apng" => (Format::Png, true),
        "webp" => (Format::Webp, true),
        _ => {
            let cause = format!("--out {}: this is no kind of picture that is known", out.display());
            return Err(Failure::new(Exit::Usage, cause, "let its name end in .png, .apng or .webp"));
        }
    };
    if arguments.sheet.is_some() && extension == "apng" {
        let cause = format!("--out {}: a sheet does not move", out.display());
        return Err(Failure::new(Exit::Usage, cause, "let its name end in .png or .webp"));
    }
    if out.is_dir() {
        let cause = format!("--out {}: this is a folder", out.display());
        return Err(Failure::new(Exit::Usage, cause, "name a file in it"));
    }
    let shots = shots(arguments, &movie, moves)?;
    let moves = moves && shots.len() > 1 && arguments.sheet.is_none();
    let size = picture_size(arguments, moves, shots.len())?;
    let mut film = Film::new(movie, arguments, &shots, size)?;
    match arguments.sheet {
        Some(_) => sheet(arguments, &mut film, &shots, format, &out),
        None if moves && format == Format::Png => moving_png(&mut film, &shots, &out),
        None if moves => moving_webp(&mut film, &shots, &out),
        None => stills(arguments, &mut film, &shots, format, &out),
    }
}

/// In the current folder, by the name of the scene or the file.
fn default_path(movie: &Movie) -> PathBuf {
    let title = Path::new(&movie.title);
    let is_file = movie.status.is_none();
    let name = if is_file { title.file_stem() } else { title.file_name() };
    PathBuf::from(format!("{}.png", name.unwrap_or_default().to_string_lossy()))
}

/// Size of a picture, which is not too large for any format.
fn picture_size(arguments: &RenderArgs, moves: bool, count: usize) -> Result<[usize; 2], Failure> {
    let usual = if arguments.sheet.is_some() {
        [480, 360]
    } else if moves {
        [640, 360]
    } else {
        [1280, 720]
    };
    let size = arguments.size.map_or(usual, |size| size.0);
    if arguments.sheet.is_some() {
        let whole = Sheet::size(count, columns(arguments, count, size), size);
        if whole.iter().any(|&pixels| pixels > LARGEST) {
            let cause = format!("the sheet would have {} × {} pixels, more than {LARGEST}", whole[0], whole[1]);
            return Err(Failure::new(Exit::Usage, cause, "take fewer frames, or smaller ones with --size"));
        }
    }
    Ok(size)
}

fn columns(arguments: &RenderArgs, count: usize, size: [usize; 2]) -> usize {
    arguments.columns.map_or_else(|| columns_for(count, size), |columns| (columns as usize).min(count.max(1)))
}

/// Some of many, evenly spread, the first and the last among them.
fn spread(count: usize, of: usize) -> impl Iterator<Item = usize> {
    let count = count.min(of);
    (0..count).map(move |n| if count == 1 { of - 1 } else { (n * (of - 1) + (count - 1) / 2) / (count - 1) })
}

/// What there is to draw.
fn shots(arguments: &RenderArgs, movie: &Movie, moves: bool) -> Result<Vec<Shot>, Failure> {
    let typed = match (&arguments.frames, arguments.frame) {
        (Some(typed), _) => Some(parse_frames(typed).map(|list| list.frames).map_err(|message| {
            Failure::new(Exit::Usage, format!("--frames: {message}"), "write it like 1001-1100 or 1,5,10-20")
        })?),
        (None, frame) => frame.map(|frame| vec![frame]),
    };
    let last = movie.frames.len() - 1;
    let places: Vec<usize> = match typed {
        Some(frames) => frames.iter().map(|&frame| place_of(movie, frame)).collect::<Result<_, _>>()?,
        None if arguments.turntable.is_none() && (moves || arguments.sheet.is_some()) => (0..=last).collect(),
        None => vec![last],
    };
    let of_place = |place: usize| Shot { place, turn: 0.0 };
    let turned: Vec<Shot> = match arguments.turntable {
        None => places.into_iter().map(of_place).collect(),
        Some(count) => (0..count as usize)
            .map(|n| Shot { place: places[n * places.len() / count as usize], turn: n as f64 / f64::from(count) })
            .collect(),
    };
    Ok(match arguments.sheet {
        None => turned,
        Some(count) => spread(count as usize, turned.len()).map(|n| turned[n]).collect(),
    })
}

fn place_of(movie: &Movie, frame: i64) -> Result<usize, Failure> {
    movie.frames.binary_search(&frame).map_err(|_| {
        let (first, last) = (movie.frames[0], movie.frames[movie.frames.len() - 1]);
        let which = match movie.frames.len() {
            1 => format!("only frame {first} is there"),
            count if count as i64 == last - first + 1 => format!("there are frames {first} to {last}"),
            count => format!("there are {count} frames from {first} to {last}"),
        };
        let cause = format!("{} has no frame {frame}; {which}", movie.path.display());
        Failure::new(Exit::InvalidInput, cause, "choose from them with --frame or --frames")
    })
}

/// An `io::Write` into a file that appears when it is whole.
struct Put<'a> {
    file: &'a mut AtomicFile,
    failure: &'a mut Option<Failure>,
}

impl Write for Put<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.file.put(bytes) {
            Ok(()) => Ok(bytes.len()),
            Err(error) => {
                *self.failure = Some(error.into());
                Err(io::Error::other("the file cannot be written"))
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes into a new file; what went wrong with the file is told as it was.
fn write(path: &Path, fill: impl FnOnce(&mut Put) -> io::Result<()>) -> Result<u64, Failure> {
    let (mut file, mut failure) = (AtomicFile::create(path)?, None);
    let result = fill(&mut Put { file: &mut file, failure: &mut failure });
    match (failure, result) {
        (Some(failure), _) => Err(failure),
        (None, Err(error)) => Err(not_encoded(path, &error)),
        (None, Ok(())) => Ok(file.commit()?.bytes),
    }
}

fn not_encoded(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::new(Exit::Unexpected, format!("{} cannot be encoded: {error}", path.display()), "please report it")
}

fn write_still(path: &Path, picture: &Picture, format: Format) -> Result<u64, Failure> {
    write(path, |to| match format {
        Format::Png => encode::png(to, picture),
        Format::Webp => to.write_all(&encode::webp(picture)?),
    })
}

fn stills(arguments: &RenderArgs, film: &mut Film, shots: &[Shot], format: Format, out: &Path) -> Result<(), Failure> {
    let mut bytes = 0;
    for (n, shot) in shots.iter().enumerate() {
        let path = match (shots.len(), arguments.turntable) {
            (1, _) => out.to_owned(),
            (_, None) => numbered(out, film.movie().frames[shot.place]),
            (_, Some(_)) => numbered(out, n as i64 + 1),
        };
        let written = write_still(&path, &film.shoot(*shot)?, format)?;
        if n < NAMED_FILES {
            log(&format!("{}: {}", path.display(), show_bytes(written)));
        }
        bytes += written;
    }
    if shots.len() > NAMED_FILES {
        log(&format!("and so on: {} pictures, {}", shots.len(), show_bytes(bytes)));
    }
    Ok(())
}

/// With a number before the extension.
fn numbered(path: &Path, number: i64) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{stem}.{number:04}.{extension}"))
}

fn sheet(arguments: &RenderArgs, film: &mut Film, shots: &[Shot], format: Format, out: &Path) -> Result<(), Failure> {
    let size = film.size();
    let mut sheet = Sheet::new(shots.len(), columns(arguments, shots.len(), size), size, [1.0; 3]);
    for shot in shots {
        sheet.add(&film.shoot(*shot)?);
    }
    let bytes = write_still(out, sheet.picture(), format)?;
    log(&format!("{}: {}, {}", out.display(), counted(shots.len(), "frame", "frames"), show_bytes(bytes)));
    Ok(())
}

fn told(out: &Path, shots: usize, fps: f64, bytes: u64) {
    let seconds = shots as f64 / fps;
    log(&format!("{}: {shots} frames, {seconds:.1} s, {}", out.display(), show_bytes(bytes)));
}

fn moving_png(film: &mut Film, shots: &[Shot], out: &Path) -> Result<(), Failure> {
    let (fps, mut trouble) = (film.movie().fps, None);
    let bytes = write(out, |to| {
        let mut take = |shot: &Shot| {
            film.shoot(*shot).map_err(|failure| {
                trouble = Some(failure);
                io::Error::other("a frame cannot be read")
            })
        };
        let mut moving = MovingPng::new(to, take(&shots[0])?, shots.len() as u32, fps)?;
        for shot in &shots[1..] {
            moving.add(take(shot)?)?;
        }
        moving.finish()
    });
    let bytes = match trouble {
        Some(failure) => return Err(failure),
        None => bytes?,
    };
    told(out, shots.len(), fps, bytes);
    Ok(())
}

fn moving_webp(film: &mut Film, shots: &[Shot], out: &Path) -> Result<(), Failure> {
    let fps = film.movie().fps;
    let mut file = AtomicFile::create_with_head(out, MovingWebp::HEAD)?;
    let mut moving = MovingWebp::new(film.size(), fps);
    for shot in shots {
        let chunk = moving.add(film.shoot(*shot)?).map_err(|error| not_encoded(out, &error))?;
        file.put(&chunk)?;
    }
    let Some(head) = moving.head() else {
        let cause = format!("{} would be longer than 4 GB", out.display());
        return Err(Failure::new(Exit::Usage, cause, "take fewer frames, smaller ones, or .png"));
    };
    let bytes = file.commit_with_head(&head)?.bytes;
    told(out, shots.len(), fps, bytes);
    Ok(())
}
