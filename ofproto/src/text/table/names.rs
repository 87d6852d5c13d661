//! Lists of names that are shortened: `eth_{src,dst}`, `reg0...reg15`.

/// The names with blanks between.
pub(super) fn put_names(out: &mut String, names: &[String]) {
    put_group(out, names, 0);
}

/// The names without their first `skipped` bytes, which are the same in all of them.
fn put_group(out: &mut String, mut names: &[String], skipped: usize) {
    let mut separator = "";
    while let [first, others @ ..] = names {
        out.push_str(separator);
        separator = if skipped == 0 { " " } else { "," };
        let numbered = numbered_run(names);
        let (alike, prefix) = alike_run(first, others, skipped);
        let rest = |name: &str, from: usize| name.get(from..).unwrap_or_default().to_owned();
        if numbered >= alike {
            out.push_str(&rest(first, skipped));
            if let Some(last) = names.get(numbered - 1).filter(|_| numbered > 1) {
                put!(out, "...{}", rest(last, skipped));
            }
        } else {
            put!(
                out,
                "{}{{",
                first.get(skipped..skipped + prefix).unwrap_or_default()
            );
            put_group(out, &names[..alike], skipped + prefix);
            out.push('}');
        }
        names = &names[numbered.max(alike)..];
    }
}

/// How many names from the first one on are numbered one after the other; two such are not worth a range.
fn numbered_run(names: &[String]) -> usize {
    let steps = names
        .windows(2)
        .take_while(|pair| follows(&pair[0], &pair[1]))
        .count();
    if steps == 1 { 1 } else { steps + 1 }
}

/// Is the second name the first one with a number higher by one?
fn follows(first: &str, second: &str) -> bool {
    let common = first
        .bytes()
        .zip(second.bytes())
        .take_while(|(a, b)| a == b)
        .count();
    let number = |name: &str| -> Option<u32> {
        let digits = name.get(common..).filter(|digits| digits.len() < 10)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then_some(())?;
        digits.parse().ok()
    };
    matches!((number(first), number(second)), (Some(a), Some(b)) if a + 1 == b)
}

/// How many names have a prefix, up to a `_`, in common with the first one; and how long it is with the second.
fn alike_run(first: &str, others: &[String], skipped: usize) -> (usize, usize) {
    let Some(prefix) = others
        .first()
        .map(|second| common_prefix(first, second, skipped))
        .filter(|prefix| *prefix > 0)
    else {
        return (1, 0);
    };
    let alike = others
        .iter()
        .take_while(|other| common_prefix(first, other, skipped) > 0)
        .count();
    (alike + 1, prefix)
}

fn common_prefix(a: &str, b: &str, skipped: usize) -> usize {
    let pairs = a.bytes().zip(b.bytes()).skip(skipped).take_while(|(a, b)| a == b);
    pairs
        .enumerate()
        .filter(|(_, (byte, _))| *byte == b'_')
        .last()
        .map_or(0, |(at, _)| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shortened() {
        for (names, text) in [
            ("eth_src eth_dst vlan_vid", "eth_{src,dst} vlan_vid"),
            ("reg0 reg1 reg2 xreg0 xreg1", "reg0...reg2 xreg0 xreg1"),
            (
                "tun_id tun_ipv6_src tun_ipv6_dst tun_flags",
                "tun_{id,ipv6_{src,dst},flags}",
            ),
            ("in_port", "in_port"),
            ("", ""),
        ] {
            let names: Vec<_> = names.split_terminator(' ').map(str::to_owned).collect();
            let mut out = String::new();
            put_names(&mut out, &names);
            assert_eq!(out, text);
        }
    }
}
