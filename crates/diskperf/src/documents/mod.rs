//! Result files, the stored runs that they come from, and files that the user names.

pub mod document;
pub mod document_error;
pub mod inputs;
pub mod job_files;
pub mod redact;
pub mod store_arguments;
pub mod user_files;
