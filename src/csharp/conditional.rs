//! `#if` … `#endif`: which lines are sure to be compiled.
//!
//! The symbols that the Editor's compiler defines are not known here, so a condition over a symbol is neither true
//! nor false. Only lines that are compiled whatever the symbols are count as active.

/// The `#if` nesting at one place in the code.
#[derive(Debug, Default)]
pub(super) struct Conditionals {
    stack: Vec<Section>,
}

#[derive(Debug)]
struct Section {
    /// Whether the lines around the whole section are active.
    outer: bool,
    /// Whether one of the branches up to here was taken.
    taken: Truth,
    /// Whether the lines of the present branch are active.
    active: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Truth {
    Yes,
    No,
    Unknown,
}

impl Conditionals {
    /// Whether the lines from here on are sure to be compiled.
    pub(super) fn active(&self) -> bool {
        self.stack.last().is_none_or(|s| s.active)
    }

    /// Takes in one directive line, from its `#` to its end.
    pub(super) fn see(&mut self, line: &str) {
        let line = line.strip_prefix('#').unwrap_or(line).trim_start();
        let word_len = line
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(line.len());
        let (word, rest) = line.split_at(word_len);
        match word {
            "if" => {
                let (outer, taken) = (self.active(), evaluate(rest));
                self.stack.push(Section {
                    outer,
                    taken,
                    active: outer && taken == Truth::Yes,
                });
            }
            "elif" => self.branch(evaluate(rest)),
            "else" => self.branch(Truth::Yes),
            "endif" => {
                self.stack.pop();
            }
            _ => {}
        }
    }

    fn branch(&mut self, condition: Truth) {
        if let Some(section) = self.stack.last_mut() {
            section.active = section.outer && section.taken == Truth::No && condition == Truth::Yes;
            section.taken = section.taken.or(condition);
        }
    }
}

impl Truth {
    fn not(self) -> Self {
        match self {
            Self::Yes => Self::No,
            Self::No => Self::Yes,
            Self::Unknown => Self::Unknown,
        }
    }

    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Yes, _) | (_, Self::Yes) => Self::Yes,
            (Self::No, Self::No) => Self::No,
            _ => Self::Unknown,
        }
    }

    fn and(self, other: Self) -> Self {
        self.not().or(other.not()).not()
    }

    fn equals(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            _ if self == other => Self::Yes,
            _ => Self::No,
        }
    }
}

/// Parentheses deeper than this are not followed: the condition then counts as unknown.
const MAX_DEPTH: usize = 32;

/// The value of a directive's condition; unknown when a symbol decides it or when it does not parse.
fn evaluate(condition: &str) -> Truth {
    let mut parser = Parser {
        rest: condition,
        depth: 0,
    };
    match parser.any_of() {
        Some(truth) if parser.at_end() => truth,
        _ => Truth::Unknown,
    }
}

struct Parser<'a> {
    rest: &'a str,
    depth: usize,
}

impl Parser<'_> {
    fn eat(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        self.rest
            .strip_prefix(token)
            .map(|rest| self.rest = rest)
            .is_some()
    }

    fn at_end(&mut self) -> bool {
        self.rest = self.rest.trim_start();
        self.rest.is_empty() || self.rest.starts_with("//")
    }

    fn any_of(&mut self) -> Option<Truth> {
        let mut truth = self.all_of()?;
        while self.eat("||") {
            truth = truth.or(self.all_of()?);
        }
        Some(truth)
    }

    fn all_of(&mut self) -> Option<Truth> {
        let mut truth = self.comparison()?;
        while self.eat("&&") {
            truth = truth.and(self.comparison()?);
        }
        Some(truth)
    }

    fn comparison(&mut self) -> Option<Truth> {
        let mut truth = self.unary()?;
        loop {
            if self.eat("==") {
                truth = truth.equals(self.unary()?);
            } else if self.eat("!=") {
                truth = truth.equals(self.unary()?).not();
            } else {
                return Some(truth);
            }
        }
    }

    fn unary(&mut self) -> Option<Truth> {
        let mut negated = false;
        while self.eat("!") {
            negated = !negated;
        }
        let truth = self.primary()?;
        Some(if negated { truth.not() } else { truth })
    }

    fn primary(&mut self) -> Option<Truth> {
        if self.eat("(") {
            self.depth += 1;
            if self.depth > MAX_DEPTH {
                return None;
            }
            let truth = self.any_of()?;
            self.depth -= 1;
            return self.eat(")").then_some(truth);
        }
        let end = |c: char| !(c.is_alphanumeric() || c == '_' || c == '@' || c == '\\');
        let (word, rest) = self
            .rest
            .split_at(self.rest.find(end).unwrap_or(self.rest.len()));
        self.rest = rest;
        match word {
            "" => None,
            "true" => Some(Truth::Yes),
            "false" => Some(Truth::No),
            _ => Some(Truth::Unknown),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Conditionals, Truth, evaluate};

    #[test]
    fn constants_decide_and_symbols_do_not() {
        for (condition, truth) in [
            (" true", Truth::Yes),
            (" false // really", Truth::No),
            ("(true)", Truth::Yes),
            (" !false && !!true", Truth::Yes),
            (" UNITY_EDITOR", Truth::Unknown),
            (" !UNITY_EDITOR", Truth::Unknown),
            (" false && UNITY_EDITOR", Truth::No),
            (" UNITY_EDITOR || true", Truth::Yes),
            (" UNITY_EDITOR && true", Truth::Unknown),
            (" false || true && false", Truth::No),
            (" true == false", Truth::No),
            (" (true != false) == true", Truth::Yes),
            (" UNITY_EDITOR == UNITY_EDITOR", Truth::Unknown),
            (" truely", Truth::Unknown),
            ("", Truth::Unknown),
            (" (true", Truth::Unknown),
            (" true false", Truth::Unknown),
        ] {
            assert_eq!(evaluate(condition), truth, "{condition}");
        }
    }

    #[test]
    fn nesting_without_end_is_unknown_and_harmless() {
        assert_eq!(evaluate(&"(".repeat(1_000_000)), Truth::Unknown);
        assert_eq!(evaluate(&("!".repeat(1_000_000) + "true")), Truth::Yes);
        assert_eq!(
            evaluate(&(" (".repeat(32) + "true" + &")".repeat(32))),
            Truth::Yes
        );
        // Parentheses beside each other are not nested.
        assert_eq!(
            evaluate(&(" (false) ||".repeat(100) + "(true)")),
            Truth::Yes
        );
    }

    fn after(lines: &[&str]) -> bool {
        let mut conditionals = Conditionals::default();
        lines.iter().for_each(|line| conditionals.see(line));
        conditionals.active()
    }

    #[test]
    fn a_branch_is_active_only_when_it_is_surely_the_one() {
        assert!(after(&[]));
        assert!(after(&["#if true"]));
        assert!(!after(&["#if false"]));
        assert!(after(&["#  if false", "# else // the other"]));
        assert!(after(&["#if false", "#elif true"]));
        assert!(!after(&["#if true", "#elif true"]));
        assert!(!after(&["#if true", "#else"]));
        assert!(!after(&["#if DEBUG"]));
        assert!(!after(&["#if DEBUG", "#else"]));
        assert!(!after(&["#if DEBUG", "#elif true"]));
        assert!(!after(&["#if false", "#if true"]));
        assert!(!after(&["#if false", "#if false", "#else"]));
        assert!(after(&["#if false", "#if true", "#endif", "#else"]));
        assert!(after(&["#if false", "#endif"]));
        assert!(after(&[
            "#endif",
            "#else",
            "#region if",
            "#pragma warning disable"
        ]));
    }
}
