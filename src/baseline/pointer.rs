//! JSON pointers (RFC 6901), written without the leading slash: `properties/action/enum`.

/// One step further down.
pub(super) fn join(at: &str, key: &str) -> String {
    let key = key.replace('~', "~0").replace('/', "~1");
    if at.is_empty() {
        key
    } else {
        format!("{at}/{key}")
    }
}

/// The tokens of a `$ref` into its own document (`#`, `#/…`); `None` for any other reference: another
/// document, an anchor, a broken escape.
pub(super) fn local_reference(reference: &str) -> Option<Vec<String>> {
    let fragment = percent_decoded(reference.strip_prefix('#')?)?;
    if fragment.is_empty() {
        return Some(Vec::new());
    }
    Some(
        fragment
            .strip_prefix('/')?
            .split('/')
            .map(|token| token.replace("~1", "/").replace("~0", "~"))
            .collect(),
    )
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        rest = tail;
        if first == b'%' {
            let (digits, tail) = rest.split_at_checked(2)?;
            bytes.extend(hex::decode(digits).ok()?);
            rest = tail;
        } else {
            bytes.push(first);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_with_a_slash_or_a_tilde_is_escaped() {
        assert_eq!(join("", "properties"), "properties");
        assert_eq!(join("properties", "a/b~c"), "properties/a~1b~0c");
    }

    #[test]
    fn a_local_reference_is_split_and_unescaped() {
        let tokens = |text| local_reference(text).map(|tokens| tokens.join("|"));
        assert_eq!(tokens("#"), Some(String::new()));
        assert_eq!(tokens("#/$defs/A"), Some("$defs|A".to_owned()));
        assert_eq!(
            tokens("#/$defs/a~1b~0c~01"),
            Some("$defs|a/b~c~1".to_owned())
        );
        assert_eq!(tokens("#/%24defs/%C3%A4%20b"), Some("$defs|ä b".to_owned()));
        assert_eq!(tokens("#/$defs/"), Some("$defs|".to_owned()));
    }

    #[test]
    fn any_other_reference_is_left_alone() {
        for text in [
            "",
            "other.json",
            "other.json#/$defs/A",
            "#anchor",
            "#/a%",
            "#/a%2",
            "#/a%zz",
            "#/%ff",
        ] {
            assert_eq!(local_reference(text), None, "{text}");
        }
    }
}
