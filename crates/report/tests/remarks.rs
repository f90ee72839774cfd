//! A remark on a run appears exactly once in each output: text, Markdown and page.

use report::glossary::Topic;
use report::html::{Run, page};
use report::{Page, Presentation, markdown, table};
use stats::{Document, Remark, RemarkKind};

/// A recorded run, and one that compares targets.
fn recorded() -> [Document; 2] {
    [include_str!("../../../docs/quick.json"), include_str!("../../../docs/choice.json")]
        .map(|text| serde_json::from_str(text).expect("a document"))
}

fn remark(kind: RemarkKind, program: Option<&str>, text: &str) -> Remark {
    Remark { kind, target: None, program: program.map(str::to_owned), text: text.to_owned() }
}

/// The page without the document that it contains for other programs.
fn shown_page(document: &Document) -> String {
    page(
        &[Run { name: "run", document, presentation: Presentation::PLAIN, published: &[], json: &|_| "{}".to_owned() }],
        &[],
        None,
    )
}

#[test]
fn a_remark_is_shown_once_in_text_markdown_and_html() {
    for mut document in recorded() {
        assert!(document.run.remarks.is_empty(), "a run of before has none");
        let before = [
            table(&document, Presentation::PLAIN, Page::ENDLESS),
            markdown("run", &document, Presentation::PLAIN),
            shown_page(&document),
        ];
        let text = "left 2 processes running";
        document.run.remarks = ["make", "tar"]
            .map(|program| remark(RemarkKind::ProcessesLeft, Some(program), text))
            .into_iter()
            .chain([remark(RemarkKind::MemoryNotLimited, None, "no control group")])
            .collect();
        let after = [
            table(&document, Presentation::PLAIN, Page::ENDLESS),
            markdown("run", &document, Presentation::PLAIN),
            shown_page(&document),
        ];
        let says = Topic::Remark.entry(RemarkKind::ProcessesLeft.name()).expect("it is explained").says;
        for (before, after) in before.iter().zip(&after) {
            assert!(!before.contains(text));
            // A remark about two programs takes one line.
            for once in ["left 2 processes running (make; tar)", "no control group"] {
                assert_eq!(after.matches(once).count(), 1, "{once}: {after}");
            }
        }
        assert!(after[2].contains(says), "the page explains it");
    }
}

#[test]
fn a_remark_names_its_target_if_there_are_several() {
    let [_, mut document] = recorded();
    let target = document.run.targets[1].name.clone();
    let kind = RemarkKind::Repeated;
    document.run.remarks =
        vec![Remark { target: Some(target.clone()), ..remark(kind, Some("commit"), "a signal paused it") }];
    let line = format!("{}: a signal paused it (commit on {target})", kind.name());
    assert_eq!(table(&document, Presentation::PLAIN, Page::ENDLESS).matches(&line).count(), 1);
}

#[test]
fn a_document_without_remarks_is_read_and_written_as_before() {
    let [document, _] = recorded();
    let json = serde_json::to_value(&document).expect("plain data");
    assert!(json["run"].get("remarks").is_none());
}
