//! Frame lists and file name patterns.

use kiln::scene::frames::parse_frames;
use kiln::scene::pattern::Pattern;

#[test]
fn frame_lists() {
    let cases: [(&str, &[i64]); 15] = [
        ("5", &[5]),
        ("1-3", &[1, 2, 3]),
        (" 1 - 3 ", &[1, 2, 3]),
        ("1-5x2", &[1, 3, 5]),
        ("1-6:2", &[1, 3, 5]),
        ("1-6 x 2", &[1, 3, 5]),
        ("1,5,7-8", &[1, 5, 7, 8]),
        ("8, 1-2 ,1", &[1, 2, 8]),
        ("-2-1", &[-2, -1, 0, 1]),
        ("-3--1", &[-3, -2, -1]),
        ("-3 - -1", &[-3, -2, -1]),
        ("-7", &[-7]),
        ("3-3", &[3]),
        ("1-3x99999999999999999999999", &[1]),
        ("0001-0002", &[1, 2]),
    ];
    for (text, frames) in cases {
        assert_eq!(parse_frames(text).unwrap().frames, frames, "{text}");
    }
    let list = parse_frames("1-100x2").unwrap();
    assert_eq!((list.first, list.last, list.frames.len()), (1, 100, 50));
    assert_eq!(parse_frames("1-1000000").unwrap().frames.len(), 1_000_000);
}

#[test]
fn frame_lists_that_are_none() {
    let cases = [
        ("", "not a frame range"),
        (",", "not a frame range"),
        ("1-", "not a frame range"),
        ("1-2-3", "not a frame range"),
        ("1..3", "not a frame range"),
        ("a", "not a frame range"),
        ("1.5", "not a frame range"),
        ("1x2", "not a frame range"),
        ("--1", "not a frame range"),
        ("1-5x", "not a frame range"),
        ("1-5x2x2", "not a frame range"),
        ("١-٣", "not a frame range"),
        ("1-5x0", "not positive"),
        ("1-5x-1", "not positive"),
        ("5-1", "runs backwards"),
        ("1-1000001", "more than 1000000 frames"),
        ("1,2000000", "more than 1000000 frames"),
        ("99999999999999999999999", "beyond"),
        ("-2000000000-5", "beyond"),
    ];
    for (text, message) in cases {
        let error = parse_frames(text).expect_err(text);
        assert!(error.contains(message), "{text}: {error}");
    }
}

/// Pattern, name of frame 7, of frame -12, of frame 123456, and without frames.
#[test]
fn patterns() {
    let cases = [
        ("{object}.####", "flag.0007", "flag.-012", "flag.123456", "flag"),
        ("{object}.%04d", "flag.0007", "flag.-012", "flag.123456", "flag"),
        ("{object}.$F4", "flag.0007", "flag.-012", "flag.123456", "flag"),
        ("{object}.{frame:04}", "flag.0007", "flag.-012", "flag.123456", "flag"),
        ("{object}_$F", "flag_7", "flag_-12", "flag_123456", "flag"),
        ("{object}_%d", "flag_7", "flag_-12", "flag_123456", "flag"),
        ("{object}-{frame}", "flag-7", "flag--12", "flag-123456", "flag"),
        ("##_{object}", "07_flag", "-12_flag", "123456_flag", "flag"),
        ("a.#.b", "a.7.b", "a.-12.b", "a.123456.b", "a.b"),
        ("{scene}/{object}###", "shot/flag007", "shot/flag-12", "shot/flag123456", "shot/flag"),
        ("caches\\#.{object}", "caches/7.flag", "caches/-12.flag", "caches/123456.flag", "caches/flag"),
        ("50%_$x_{object}", "50%_$x_flag", "50%_$x_flag", "50%_$x_flag", "50%_$x_flag"),
        ("ärmel", "ärmel", "ärmel", "ärmel", "ärmel"),
    ];
    for (text, frame, negative, large, none) in cases {
        let pattern = Pattern::parse(text).unwrap();
        let names = [Some(7), Some(-12), Some(123_456), None].map(|frame| pattern.file_name("flag", "shot", frame));
        assert_eq!(names, [frame, negative, large, none], "{text}");
    }
    let pattern = Pattern::parse("{object}.####").unwrap();
    assert!(pattern.has_frame() && pattern.has_object());
    assert!(!Pattern::parse("a").unwrap().has_frame());
}

#[test]
fn patterns_that_are_none() {
    let cases = [
        ("", "empty"),
        ("  ", "empty"),
        ("/tmp/{object}", "absolute"),
        ("\\\\host\\{object}", "absolute"),
        ("C:\\{object}", "absolute"),
        ("../{object}", "leaves"),
        ("a/..\\{object}", "leaves"),
        ("{object", "not closed"),
        ("object}", "closes nothing"),
        ("{objet}", "did you mean `{object}`?"),
        ("{frame:x}", "unknown token"),
        ("{frame:}", "unknown token"),
        ("####", "more than a frame number"),
        ("{object}/", "more than a frame number"),
        ("{object}/.####", "more than a frame number"),
        ("a\nb", "cannot be part"),
        ("a?", "cannot be part"),
        ("a%99999999999999999999999d", "too many"),
    ];
    for (text, message) in cases {
        let error = Pattern::parse(text).expect_err(text);
        assert!(error.contains(message), "{text}: {error}");
    }
}
