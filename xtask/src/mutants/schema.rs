//! Mutant schemata: source files that contain all their mutants, of which an environment variable
//! selects one, so that thousands need only one build.

use std::collections::BTreeSet;
use std::ops::Range;

use proc_macro2::LineColumn;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{BinOp, Expr, ReturnType, Stmt, UnOp};

/// The module added to the copy of the library: whether a mutant is the selected one.
pub(super) const CHOICE: &str = r#"//! Which mutant is tried.
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

static CHOSEN: AtomicU32 = AtomicU32::new(u32::MAX);

pub(crate) fn is(id: u32) -> bool {
    let mut chosen = CHOSEN.load(Relaxed);
    if chosen == u32::MAX {
        let given = std::env::var("TENFOLD_MUTANT").ok();
        chosen = given.and_then(|id| id.parse().ok()).unwrap_or(0);
        CHOSEN.store(chosen, Relaxed);
    }
    chosen == id
}
"#;

/// Upper bound per file: each file has a range of ids.
pub(super) const MOST_IN_A_FILE: u32 = 10_000;

/// Number methods that are easily confused.
const METHODS: [(&str, &str); 9] = [
    ("min", "max"),
    ("max", "min"),
    ("checked_add", "checked_sub"),
    ("checked_sub", "checked_add"),
    ("saturating_add", "saturating_sub"),
    ("saturating_sub", "saturating_add"),
    ("checked_mul", "checked_add"),
    ("saturating_mul", "saturating_add"),
    ("wrapping_add", "wrapping_sub"),
];

/// One change of one file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mutant {
    /// The id that selects it.
    pub(super) id: u32,
    pub(super) line: usize,
    pub(super) what: String,
}

/// The text of a file with its mutants, whose ids start at `first`; those in `left_out` are
/// omitted.
pub(super) fn mutated(
    text: &str,
    first: u32,
    left_out: &BTreeSet<u32>,
) -> Result<(String, Vec<Mutant>), syn::Error> {
    let file = syn::parse_file(text)?;
    let mut line_starts = vec![0];
    line_starts.extend(text.match_indices('\n').map(|(at, _)| at.saturating_add(1)));
    let mut finder = Finder {
        text,
        line_starts,
        next: first,
        left_out,
        edits: Vec::new(),
        mutants: Vec::new(),
    };
    finder.visit_file(&file);
    let Finder { edits, mutants, .. } = finder;
    Ok((applied(text, edits), mutants))
}

/// Applies replacements; of those that begin at the same byte, the outer one was found first.
fn applied(text: &str, mut edits: Vec<(Range<usize>, Side, String)>) -> String {
    // Ends precede beginnings at the same byte, from the inside out.
    edits.reverse();
    edits.sort_by_key(|(place, side, _)| (place.start, *side));
    let mut out = String::new();
    let mut done = 0;
    let mut at = 0;
    while let Some((place, side, _)) = edits.get(at) {
        let same =
            |edit: &&(Range<usize>, Side, String)| (edit.0.start, edit.1) == (place.start, *side);
        let alike = edits.iter().skip(at).take_while(same).count();
        let mut group: Vec<_> = edits.iter().skip(at).take(alike).collect();
        if *side == Side::Begin {
            group.reverse();
        }
        out += text.get(done..place.start).unwrap_or_default();
        done = place.end.max(done.max(place.start));
        group.iter().for_each(|(_, _, new)| out += new);
        at = at.saturating_add(alike);
    }
    out + text.get(done..).unwrap_or_default()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    End,
    Between,
    Begin,
}

struct Finder<'a> {
    text: &'a str,
    line_starts: Vec<usize>,
    next: u32,
    left_out: &'a BTreeSet<u32>,
    edits: Vec<(Range<usize>, Side, String)>,
    mutants: Vec<Mutant>,
}

impl Finder<'_> {
    fn offset(&self, place: LineColumn) -> usize {
        let start = self.line_starts.get(place.line.saturating_sub(1));
        let start = start.copied().unwrap_or(0);
        // Columns are counted in characters.
        let line = self.text.get(start..).unwrap_or_default();
        let within = line.char_indices().nth(place.column);
        start.saturating_add(within.map_or(line.len(), |(at, _)| at))
    }

    fn range(&self, node: &impl Spanned) -> Range<usize> {
        let span = node.span();
        self.offset(span.start())..self.offset(span.end())
    }

    /// The next id, unless this mutant is omitted.
    fn id(&mut self, node: &impl Spanned, what: String) -> Option<u32> {
        let id = self.next;
        self.next = id.saturating_add(1);
        if self.left_out.contains(&id) {
            return None;
        }
        let line = node.span().start().line;
        self.mutants.push(Mutant { id, line, what });
        Some(id)
    }

    fn around(&mut self, place: Range<usize>, before: &str, after: String) {
        let begin = place.start..place.start;
        self.edits.push((begin, Side::Begin, before.into()));
        self.edits.push((place.end..place.end, Side::End, after));
    }

    fn words(&self, node: &impl Spanned) -> String {
        let text = self.text.get(self.range(node)).unwrap_or_default();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        text.chars().take(60).collect()
    }

    /// The negation of a boolean.
    fn negated(&mut self, node: &Expr) {
        let what = format!("not: {}", self.words(node));
        if let Some(id) = self.id(node, what) {
            let after = format!(") ^ crate::mutant::is({id}))");
            self.around(self.range(node), "((", after);
        }
    }

    /// The operands of a condition that are not operators themselves.
    fn condition(&mut self, node: &Expr) {
        match node {
            Expr::Binary(both) if matches!(both.op, BinOp::And(_) | BinOp::Or(_)) => {
                self.condition(&both.left);
                self.condition(&both.right);
            }
            Expr::Paren(inner) => self.condition(&inner.expr),
            Expr::MethodCall(_) | Expr::Call(_) | Expr::Path(_) | Expr::Field(_) => {
                self.negated(node);
            }
            _ => {}
        }
    }

    /// A comparison of two values, whose mutants are other comparisons.
    fn compared(&mut self, node: &syn::ExprBinary, own: &str, others: &[&str]) {
        let mut choice = String::new();
        for other in others {
            let what = format!("{own} as {other}: {}", self.words(node));
            if let Some(id) = self.id(node, what) {
                choice += &format!("if crate::mutant::is({id}) {{ l {other} r }} else ");
            }
        }
        if !choice.is_empty() {
            let between = self.range(&*node.left).end..self.range(&*node.right).start;
            self.edits.push((between, Side::Between, "), &(".into()));
            let after = format!(")) {{ (l, r) => {choice}{{ l {own} r }} }})");
            self.around(self.range(node), "(match (&(", after);
        }
    }

    /// `&&` and `||`, by De Morgan's law.
    fn joined(&mut self, node: &syn::ExprBinary, what: &str) {
        let what = format!("{what}: {}", self.words(node));
        if let Some(id) = self.id(node, what) {
            let mutant = format!("crate::mutant::is({id})");
            for side in [&node.left, &node.right] {
                self.around(self.range(&**side), "((", format!(") ^ {mutant})"));
            }
            // Found before its sides, so that it is around them.
            let own = self.range(node);
            let begin = (own.start..own.start, Side::Begin, "((".to_owned());
            let end = (own.end..own.end, Side::End, format!(") ^ {mutant})"));
            let at = self.edits.len().saturating_sub(4);
            self.edits.splice(at..at, [begin, end]);
        }
    }

    fn body(&mut self, output: &ReturnType, body: &syn::Block) {
        let ReturnType::Type(_, output) = output else {
            return;
        };
        let values: &[&str] = match self.words(&**output).as_str() {
            "Result<()>" => &["Ok(())"],
            "bool" => &["true", "false"],
            _ => return,
        };
        for value in values {
            if let Some(id) = self.id(body, format!("the function gives {value}")) {
                let at = self.range(body).start.saturating_add(1);
                let text = format!(" if crate::mutant::is({id}) {{ return {value}; }}");
                self.edits.push((at..at, Side::Between, text));
            }
        }
    }
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let is_cfg = attribute.path().is_ident("cfg");
        is_cfg
            && matches!(&attribute.meta, syn::Meta::List(list) if list.tokens.to_string() == "test")
    })
}

/// Whether a condition binds names, which can only stand where it does.
fn binds(node: &Expr) -> bool {
    match node {
        Expr::Let(_) => true,
        Expr::Binary(both) => binds(&both.left) || binds(&both.right),
        _ => false,
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_fn(&mut self, node: &'ast syn::ItemFn) {
        if node.sig.constness.is_none() && !is_test(&node.attrs) {
            self.body(&node.sig.output, &node.block);
            self.visit_block(&node.block);
        }
    }

    fn visit_impl_item_fn(&mut self, node: &'ast syn::ImplItemFn) {
        if node.sig.constness.is_none() && !is_test(&node.attrs) {
            self.body(&node.sig.output, &node.block);
            self.visit_block(&node.block);
        }
    }

    fn visit_item_mod(&mut self, node: &'ast syn::ItemMod) {
        if !is_test(&node.attrs) {
            visit::visit_item_mod(self, node);
        }
    }

    fn visit_item_impl(&mut self, node: &'ast syn::ItemImpl) {
        if !is_test(&node.attrs) {
            visit::visit_item_impl(self, node);
        }
    }

    // Constant evaluation cannot query the selected mutant.
    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}
    fn visit_pat(&mut self, _: &'ast syn::Pat) {}
    fn visit_type(&mut self, _: &'ast syn::Type) {}
    fn visit_generics(&mut self, _: &'ast syn::Generics) {}

    fn visit_expr_repeat(&mut self, node: &'ast syn::ExprRepeat) {
        self.visit_expr(&node.expr);
    }

    fn visit_expr_if(&mut self, node: &'ast syn::ExprIf) {
        self.condition(&node.cond);
        visit::visit_expr_if(self, node);
    }

    fn visit_expr_while(&mut self, node: &'ast syn::ExprWhile) {
        self.condition(&node.cond);
        visit::visit_expr_while(self, node);
    }

    fn visit_arm(&mut self, node: &'ast syn::Arm) {
        if let Some((_, guard)) = &node.guard {
            self.condition(guard);
        }
        visit::visit_arm(self, node);
    }

    fn visit_stmt(&mut self, node: &'ast Stmt) {
        if let Stmt::Expr(Expr::Try(_), Some(_)) = node {
            let what = format!("left out: {}", self.words(node));
            if let Some(id) = self.id(node, what) {
                let before = format!("if !crate::mutant::is({id}) {{ ");
                self.around(self.range(node), &before, " }".into());
            }
        }
        visit::visit_stmt(self, node);
    }

    fn visit_expr_unary(&mut self, node: &'ast syn::ExprUnary) {
        if matches!(node.op, UnOp::Not(_)) {
            let what = format!("without !: {}", self.words(node));
            if let Some(id) = self.id(node, what) {
                let after = format!(") ^ crate::mutant::is({id}))");
                self.around(self.range(node), "((", after);
            }
        }
        visit::visit_expr_unary(self, node);
    }

    fn visit_expr_binary(&mut self, node: &'ast syn::ExprBinary) {
        match node.op {
            BinOp::Lt(_) => self.compared(node, "<", &["<=", ">="]),
            BinOp::Le(_) => self.compared(node, "<=", &["<", ">"]),
            BinOp::Gt(_) => self.compared(node, ">", &[">=", "<="]),
            BinOp::Ge(_) => self.compared(node, ">=", &[">", "<"]),
            BinOp::Eq(_) => self.compared(node, "==", &["!="]),
            BinOp::Ne(_) => self.compared(node, "!=", &["=="]),
            BinOp::And(_) if !binds(&node.left) && !binds(&node.right) => {
                self.joined(node, "&& as ||");
            }
            BinOp::Or(_) => self.joined(node, "|| as &&"),
            _ => {}
        }
        visit::visit_expr_binary(self, node);
    }

    fn visit_expr_method_call(&mut self, node: &'ast syn::ExprMethodCall) {
        let own = node.method.to_string();
        let other = METHODS.iter().find(|(name, _)| *name == own);
        if let (Some((_, other)), 1, None) = (other, node.args.len(), &node.turbofish)
            && let Some(argument) = node.args.first()
        {
            let what = format!("{own} as {other}: {}", self.words(node));
            if let Some(id) = self.id(node, what) {
                let whole = self.range(node);
                let receiver = self.range(&*node.receiver);
                let argument = self.range(argument);
                let choice = format!(
                    ")) {{ (l, r) => if crate::mutant::is({id}) {{ l.{other}(r) }} else {{ l.{own}(r) }} }})"
                );
                let begin = whole.start..whole.start;
                self.edits.push((begin, Side::Begin, "(match ((".into()));
                let between = receiver.end..argument.start;
                self.edits.push((between, Side::Between, "), (".into()));
                self.edits
                    .push((argument.end..whole.end, Side::Between, choice));
            }
        }
        visit::visit_expr_method_call(self, node);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> (String, Vec<String>) {
        let (text, mutants) = mutated(text, 1, &BTreeSet::new()).unwrap();
        assert!(syn::parse_file(&text).is_ok(), "{text}");
        let text = text.replace("crate::mutant::", "");
        (
            text,
            mutants.into_iter().map(|mutant| mutant.what).collect(),
        )
    }

    #[test]
    fn a_comparison_has_its_neighbors_for_mutants() {
        let (text, what) = of("fn f() { let x = a < b; }");
        let wanted = "fn f() { let x = (match (&(a), &(b)) { (l, r) => if is(1) { l <= r } \
            else if is(2) { l >= r } else { l < r } }); }";
        assert_eq!(text, wanted);
        assert_eq!(what, ["< as <=: a < b", "< as >=: a < b"]);
    }

    #[test]
    fn conditions_in_conditions_stay_in_order() {
        let (text, _) = of("fn f() { let x = !a && b; }");
        let wanted = "fn f() { let x = ((((((!a) ^ is(2))) ^ is(1)) && ((b) ^ is(1))) ^ is(1)); }";
        assert_eq!(text, wanted);
    }

    #[test]
    fn a_check_is_left_out_and_a_function_passes_everything() {
        let (text, _) = of("fn f() -> Result<()> { check(x)?; Ok(()) }");
        let wanted =
            "fn f() -> Result<()> { if is(1) { return Ok(()); } if !is(2) { check(x)?; } Ok(()) }";
        assert_eq!(text, wanted);
    }

    #[test]
    fn methods_of_numbers_are_swapped() {
        let (text, _) = of("fn f() { a.min(b.max(c)) }");
        let inner = "(match ((b), (c)) { (l, r) => if is(2) { l.min(r) } else { l.max(r) } })";
        let wanted = format!(
            "fn f() {{ (match ((a), ({inner})) {{ (l, r) => if is(1) {{ l.max(r) }} else {{ l.min(r) }} }}) }}"
        );
        assert_eq!(text, wanted);
    }

    #[test]
    fn what_is_left_out_keeps_the_ids_of_the_others() {
        let (text, mutants) = mutated("fn f() { !a; !b; }", 5, &[5].into()).unwrap();
        assert_eq!(text, "fn f() { !a; ((!b) ^ crate::mutant::is(6)); }");
        assert_eq!(mutants.len(), 1);
    }

    #[test]
    fn tests_and_constants_have_none() {
        let text = "#[cfg(test)]\nmod tests { fn f() { a < b; } }\nconst X: bool = 1 < 2;\nconst fn g() -> bool { !true }";
        assert_eq!(of(text).1, Vec::<String>::new());
    }
}
