//! Distances between the kernel's per-CPU variables, from its BTF.

use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::{DataSec, Var};

use super::refusal::Refusal;

/// Offsets of variables within the per-CPU section.
pub struct PerCpu<'a> {
    kernel: &'a Btf<'a>,
    section: DataSec<'a>,
}

impl<'a> PerCpu<'a> {
    /// # Errors
    /// When the kernel's BTF has no per-CPU variables.
    pub fn of(kernel: &'a Btf<'a>) -> Result<Self, Refusal> {
        let section = kernel.type_by_name(".data..percpu");
        let section = section.ok_or_else(|| {
            Refusal::new("the kernel's type information (BTF) does not name its per-CPU variables")
        })?;
        Ok(Self { kernel, section })
    }

    /// Bytes from one variable to another.
    ///
    /// # Errors
    /// When there is no variable of either name.
    pub fn distance(&self, from: &str, to: &str) -> Result<i64, Refusal> {
        Ok(self.offset(to)? - self.offset(from)?)
    }

    fn offset(&self, name: &str) -> Result<i64, Refusal> {
        let mut variables = self.section.iter();
        let found = variables.find(|info| {
            let variable: Option<Var<'_>> = self.kernel.type_by_id(info.ty);
            variable.is_some_and(|it| it.name().is_some_and(|it| it == name))
        });
        found
            .map(|info| i64::from(info.offset))
            .ok_or_else(|| Refusal::new(format!("this kernel has no per-CPU variable {name}")))
    }
}
