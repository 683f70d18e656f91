//! Tensor names as a tree, with totals.

use std::collections::HashMap;

use tenfold::{Info, Key, Names, Result, Tensor, memory};

use crate::render::{bytes_text, name_text, shown_name};
use crate::terminal::{Row, counted};

/// Deeper levels of a name are not split.
const LEVELS: usize = 24;

/// A folder of names, or a tensor, in file order.
#[derive(Default)]
struct Node<'a> {
    label: String,
    tensor: Option<(&'a Key, &'a Tensor)>,
    children: Vec<Node<'a>>,
    /// The index of the folder with a label.
    folders: HashMap<String, usize>,
    n_tensors: u64,
    len: u64,
}

/// A row for every folder and every tensor; `row` formats those of tensors.
pub(super) fn rows(
    info: &Info,
    entries: &[&(Key, Tensor)],
    row: impl Fn(&Key, &Tensor) -> Row,
) -> Result<Vec<Row>> {
    let mut root = Node::default();
    for (key, tensor) in entries {
        root.insert(&labels(info, key), key, tensor)?;
    }
    let mut rows = Vec::new();
    let mut nodes = root.children.iter();
    nodes.try_for_each(|node| node.rows("", 0, &row, &mut rows))?;
    Ok(rows)
}

/// The segments of a name, each with its separator.
fn labels(info: &Info, key: &Key) -> Vec<String> {
    let name = shown_name(info, key);
    let is_tree = info.holds.names == Names::Tree;
    let end = match &key.state {
        // The name of a statistic and its owner's last segment form one segment.
        Some(_) => name.find('@').unwrap_or(name.len()),
        None => name.len(),
    };
    let (path, state) = name.split_at(end);
    let mut labels: Vec<String> = Vec::new();
    let mut is_escaped = false;
    let mut label = String::new();
    for letter in path.chars() {
        label.push(letter);
        let is_end = matches!(letter, '/' | '.') && !is_escaped;
        is_escaped = is_tree && letter == '\\' && !is_escaped;
        if is_end && labels.len() < LEVELS {
            labels.push(std::mem::take(&mut label));
        }
    }
    label.push_str(state);
    labels.push(label);
    labels
}

impl<'a> Node<'a> {
    fn insert(&mut self, labels: &[String], key: &'a Key, tensor: &'a Tensor) -> Result<()> {
        self.n_tensors = self.n_tensors.saturating_add(1);
        self.len = self.len.saturating_add(tensor.storage().stored_len());
        match labels {
            [] => {}
            [label] => {
                let node = Node {
                    label: label.clone(),
                    tensor: Some((key, tensor)),
                    ..Node::default()
                };
                memory::push(&mut self.children, node)?;
            }
            [label, rest @ ..] => {
                let n_children = self.children.len();
                let place = self.folders.get(label).copied().unwrap_or(n_children);
                if place == n_children {
                    memory::put(&mut self.folders, label.clone(), place)?;
                    let node = Node {
                        label: label.clone(),
                        ..Node::default()
                    };
                    memory::push(&mut self.children, node)?;
                }
                if let Some(folder) = self.children.get_mut(place) {
                    folder.insert(rest, key, tensor)?;
                }
            }
        }
        Ok(())
    }

    /// The rows of this node, whose label follows `before`; a folder with a single child shares the
    /// child's row.
    fn rows(
        &self,
        before: &str,
        level: usize,
        row: &impl Fn(&Key, &Tensor) -> Row,
        rows: &mut Vec<Row>,
    ) -> Result<()> {
        let name = format!("{before}{}", self.label);
        if let [child] = self.children.as_slice() {
            return child.rows(&name, level, row, rows);
        }
        let indent = "  ".repeat(level);
        if let Some((key, tensor)) = self.tensor {
            let mut row = row(key, tensor);
            row.rename(&format!("{indent}{}", name_text(&name)));
            row.below = row
                .below
                .iter()
                .map(|line| format!("{indent}{line}"))
                .collect();
            return memory::push(rows, row);
        }
        let count = counted(self.n_tensors, "tensor");
        let size = bytes_text(self.len);
        let cells = [&format!("{indent}{name}"), "", &count, "", &size];
        memory::push(rows, Row::new(cells))?;
        let next = level.saturating_add(1);
        let mut children = self.children.iter();
        children.try_for_each(|child| child.rows("", next, row, rows))
    }
}
