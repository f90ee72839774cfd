//! The curves of a swept setting.

use super::example_documents::depths;
use super::*;

#[test]
fn a_swept_setting_is_a_curve_with_its_knee() {
    let (chart, checked) = only(&document(depths("here").to_vec()), Subject::Setting);
    assert_eq!(chart.title, "randread: operations per second over iodepth: knee at 8");
    assert_eq!((checked.count("mark"), chart.series.len()), (3, 0));
    assert!(chart.told.contains("knee at 8"), "{}", chart.told);
    let both = [depths("here"), depths("there")].concat();
    assert_eq!(charts_of_subject(&document(both.clone()), Subject::Rates), []);
    let (chart, _) = only(&document(both), Subject::Setting);
    assert_eq!(chart.series, ["here: knee at 8", "there: knee at 8"]);
}
