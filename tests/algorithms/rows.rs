//! Lists of different lengths in one piece of memory.

use kiln::math::rows::Rows;

#[test]
fn rows_come_back_as_they_went_in() {
    let lists = [vec![1, 2, 3], vec![], vec![4], vec![], vec![]];
    let rows: Rows<i32> = lists.iter().cloned().collect();
    assert_eq!(rows.len(), 5);
    assert!(lists.iter().enumerate().all(|(i, list)| rows.row(i) == list.as_slice()));
    assert_eq!(rows.iter().map(<[i32]>::to_vec).collect::<Vec<_>>(), lists);
}

#[test]
fn no_rows_are_no_rows() {
    assert!(Rows::<i32>::default().is_empty());
    assert_eq!(Rows::<i32>::default(), std::iter::empty::<Vec<i32>>().collect());
}
