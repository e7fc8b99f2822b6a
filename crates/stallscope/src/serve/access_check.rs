//! Who is let in, and to what: a pure function of a request's head.
//!
//! The order matters. A page from elsewhere whose name was made to point here (DNS rebinding) comes
//! with that name as its host and is sent away first; who does not know the secret learns nothing more.

use hyper::header::HOST;
use hyper::{Method, Request, StatusCode};

use super::asked::{self, Asked};
use super::token::Token;

/// Where a browser is told no port: it is this one.
const USUAL_PORT: u16 = 80;

/// What a request needs to be let in.
pub(super) struct AccessCheck {
    token: Token,
    /// As whom this server may be addressed.
    hosts: Vec<String>,
}

/// What is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Wanted {
    Page,
    Report(Asked),
}

/// Why a request is sent away.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Refusal {
    /// It is meant for another server, by its name.
    Misdirected,
    /// The secret is wrong, or nothing is there.
    NotFound,
    /// It would change something.
    Method,
    /// The window means nothing.
    Window,
}

impl Refusal {
    pub(super) fn status(self) -> StatusCode {
        match self {
            Self::Misdirected => StatusCode::MISDIRECTED_REQUEST,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::Window => StatusCode::BAD_REQUEST,
        }
    }

    /// What a person can do about it; of what is behind the door it tells nothing.
    pub(super) fn sentence(self) -> &'static str {
        match self {
            Self::Misdirected => {
                "this server answers only under the address that it printed, with the same port (through ssh: -L PORT:127.0.0.1:PORT)"
            }
            Self::NotFound => "not found",
            Self::Method => "only GET and HEAD are answered: nothing can be changed here",
            Self::Window => asked::WRONG,
        }
    }
}

impl AccessCheck {
    pub(super) fn new(token: Token, port: u16) -> Self {
        let names = ["127.0.0.1", "localhost"];
        let mut hosts: Vec<String> = names.iter().map(|it| format!("{it}:{port}")).collect();
        if port == USUAL_PORT {
            hosts.extend(names.map(str::to_owned));
        }
        Self { token, hosts }
    }

    /// What a request is let in for.
    pub(super) fn admit<B>(&self, request: &Request<B>) -> Result<Wanted, Refusal> {
        if !self.is_addressed(request) {
            return Err(Refusal::Misdirected);
        }
        let path = request.uri().path().strip_prefix('/').unwrap_or_default();
        let (token, name) = path.split_once('/').unwrap_or((path, "-"));
        if !self.token.is(token) {
            return Err(Refusal::NotFound);
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return Err(Refusal::Method);
        }
        match name {
            "" => Ok(Wanted::Page),
            "report.json" => Asked::parse(request.uri().query().unwrap_or_default())
                .map(Wanted::Report)
                .ok_or(Refusal::Window),
            _ => Err(Refusal::NotFound),
        }
    }

    /// Whether each name that the request gives this server is one of its own: the one `Host`, and the
    /// one in the request line, if any.
    fn is_addressed<B>(&self, request: &Request<B>) -> bool {
        let own = |name: &[u8]| {
            let mut hosts = self.hosts.iter();
            hosts.any(|host| host.as_bytes().eq_ignore_ascii_case(name))
        };
        let mut said = request.headers().get_all(HOST).iter();
        let host = said.next().is_some_and(|host| own(host.as_bytes()));
        let line = request.uri().authority();
        host && said.next().is_none() && line.is_none_or(|it| own(it.as_str().as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(port: u16) -> AccessCheck {
        let token = Token::random().expect("this system has random numbers");
        AccessCheck::new(token, port)
    }

    /// What a door says to a method, a target (`*` stands for the token) and hosts.
    fn said(
        access: &AccessCheck,
        method: &str,
        target: &str,
        hosts: &[&str],
    ) -> Result<Wanted, Refusal> {
        let target = target.replace('*', access.token.text());
        let mut request = Request::builder().method(method).uri(target);
        for host in hosts {
            request = request.header(HOST, *host);
        }
        access.admit(&request.body(()).expect("a request"))
    }

    #[test]
    fn the_page_and_reports_are_found_behind_the_secret_only() {
        let access = access(7000);
        let get = |target: &str| said(&access, "GET", target, &["127.0.0.1:7000"]);
        assert_eq!(get("/*/"), Ok(Wanted::Page));
        assert_eq!(get("/*/?anything"), Ok(Wanted::Page));
        let all = Wanted::Report(Asked::default());
        assert_eq!(get("/*/report.json"), Ok(all));
        assert_eq!(get("/*/report.json?from=x"), Err(Refusal::Window));
        for nothing in [
            "/",
            "/*",
            "//*/",
            "/*/other",
            "/*/report.json/",
            "/0/report.json",
            "/report.json",
            "/x*/",
            "/*x/",
            "/favicon.ico",
        ] {
            assert_eq!(get(nothing), Err(Refusal::NotFound), "{nothing}");
        }
    }

    #[test]
    fn only_its_own_names_are_answered() {
        let access = access(7000);
        let get = |hosts: &[&str]| said(&access, "GET", "/*/", hosts);
        assert_eq!(get(&["localhost:7000"]), Ok(Wanted::Page));
        assert_eq!(get(&["LOCALHOST:7000"]), Ok(Wanted::Page));
        for others in [
            &[][..],
            &[""],
            &["127.0.0.1"],
            &["localhost"],
            &["127.0.0.1:7001"],
            &["evil.example:7000"],
            &["localhost.evil.example:7000"],
            &["me@127.0.0.1:7000"],
            &["127.0.0.1:7000."],
            &["[::1]:7000"],
            &["127.0.0.1:7000", "127.0.0.1:7000"],
            &["127.0.0.1:7000", "evil.example"],
        ] {
            assert_eq!(get(others), Err(Refusal::Misdirected), "{others:?}");
        }
        let absolute =
            |target: &str| said(&access, "GET", &format!("{target}/*/"), &["127.0.0.1:7000"]);
        assert_eq!(absolute("http://127.0.0.1:7000"), Ok(Wanted::Page));
        assert_eq!(
            absolute("http://evil.example:7000"),
            Err(Refusal::Misdirected)
        );
    }

    #[test]
    fn on_the_usual_port_a_browser_leaves_it_out() {
        let access = access(80);
        for host in ["127.0.0.1", "localhost", "localhost:80"] {
            assert_eq!(said(&access, "GET", "/*/", &[host]), Ok(Wanted::Page));
        }
    }

    #[test]
    fn nothing_changes_anything() {
        let access = access(7000);
        let of = |method, target| said(&access, method, target, &["127.0.0.1:7000"]);
        assert_eq!(of("HEAD", "/*/"), Ok(Wanted::Page));
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "get"] {
            assert_eq!(of(method, "/*/"), Err(Refusal::Method), "{method}");
            assert_eq!(of(method, "/x/"), Err(Refusal::NotFound), "{method}");
        }
    }
}
