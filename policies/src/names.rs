//! Lists of names and the nearest one, for error messages.

/// `one of `a`, `b`, `c``, or just `` `a` `` when there is only one; long lists are cut.
pub fn one_of<S: AsRef<str>>(names: &[S]) -> String {
    match names {
        [] => "none, because none is defined".to_owned(),
        [only] => format!("`{}`", only.as_ref()),
        many => {
            let shown: Vec<String> = many
                .iter()
                .take(SHOWN)
                .map(|name| format!("`{}`", name.as_ref()))
                .collect();
            let rest = if many.len() > SHOWN { ", …" } else { "" };
            format!("one of {}{rest}", shown.join(", "))
        }
    }
}

/// `did you mean `x`?` when one of the names is near.
pub fn did_you_mean<S: AsRef<str>>(written: &str, names: &[S]) -> Option<String> {
    nearest(written, names).map(|name| format!("did you mean `{name}`?"))
}

/// The name that `written` was probably meant to be: at most a third of its letters differ, or it begins alike and
/// goes on similarly. Letter case does not count.
fn nearest<'a, S: AsRef<str>>(written: &str, names: &'a [S]) -> Option<&'a str> {
    let written = written.to_lowercase();
    let near = |name: &str| {
        let name = name.to_lowercase();
        let letters = written.chars().count().max(name.chars().count());
        let distance = strsim::damerau_levenshtein(&written, &name);
        let few_slips = distance <= (letters / 3).max(1) && distance < letters;
        (few_slips || strsim::jaro_winkler(&written, &name) > 0.85).then_some(distance)
    };
    let candidates = names
        .iter()
        .filter_map(|name| Some((near(name.as_ref())?, name.as_ref())));
    candidates
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, name)| name)
}

/// How many names a message lists.
const SHOWN: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_found_despite_slips() {
        let keys = ["prefer", "priority", "match", "mode"];
        assert_eq!(nearest("prefered", &keys), Some("prefer"));
        assert_eq!(nearest("Mode", &keys), Some("mode"));
        assert_eq!(nearest("policy", &["peerings", "policies"]), Some("policies"));
        assert_eq!(nearest("mtach", &keys), Some("match"));
        assert_eq!(nearest("colour", &keys), None);
    }

    #[test]
    fn single_letters_are_not_guessed() {
        assert_eq!(nearest("c", &["a", "b"]), None);
        assert_eq!(nearest("A", &["a", "b"]), Some("a"));
    }

    #[test]
    fn lists_read_as_english() {
        assert_eq!(one_of(&["a"]), "`a`");
        assert_eq!(one_of(&["a", "b"]), "one of `a`, `b`");
        assert_eq!(one_of::<&str>(&[]), "none, because none is defined");
    }
}
