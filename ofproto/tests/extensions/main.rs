//! The text of Open vSwitch's extensions: whatever of it is read is printed so that it is read again as the same.

mod words;

use ofproto::text::parse_flow_mod;
use ofproto::{FlowMod, Message, Xid};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 2048, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_was_read_and_printed_is_read_as_the_same(text in words::flow()) {
        let flow = read(&text)?;
        let printed = print(&flow);
        let again = read(&printed)?;
        prop_assert_eq!(print(&again), &printed[..], "{}", text);
        prop_assert_eq!(in_order(again), in_order(flow), "{} is printed as {}", text, printed);
    }
}

fn read(text: &str) -> Result<FlowMod, TestCaseError> {
    parse_flow_mod(text).map_err(|error| TestCaseError::fail(format!("{error}: {text:?}")))
}

/// Without the heading.
fn print(flow: &FlowMod) -> String {
    let text = Message::FlowMod(flow.clone()).text(Xid(1)).to_string();
    let (_, body) = text.split_once("):").expect("a heading");
    body.trim().to_owned()
}

/// Fields are printed in an order of their own.
fn in_order(mut flow: FlowMod) -> FlowMod {
    flow.match_ = flow.match_.sorted();
    flow
}
