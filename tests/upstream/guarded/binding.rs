//! A session that is bound to a project, with another Editor coming, going and taking ports over.

use super::*;

scenarios![a_bound_session_reaches_its_project_only];

/// Calls that are made at the most, and how long they may take together.
const CALLS: usize = 500;
const TIME: Duration = Duration::from_secs(40);
const CALLS_PER_SCENE: usize = 6;
/// Where the server writes what it does, in the home folder.
const SERVER_LOG: &str = ".local/state/UnityMCP/Logs/unity_mcp_server.log";
/// Commands that the server may send through a connection that it opened to the wrong Editor: the call's, and those with
/// which it looks at an Editor that it takes for a new one.
const STRAYS_OF_ONE: usize = 8;
const SEED: u64 = 0x5eed_0b1d_1e55_0009;

/// Small numbers in an order that is the same in every run (xorshift).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).unwrap()
    }
}

/// Who is there: Alpha has the bound project open, Beta is the one that must not be reached.
struct Scene<'h> {
    home: &'h Home,
    alpha: Option<Editor>,
    /// What a crash of Alpha's left behind.
    ghost: Option<Editor>,
    beta: Option<Editor>,
    /// The port that Alpha had last.
    port: u16,
    /// The commands that reached a Beta.
    strays: Vec<String>,
}

impl<'h> Scene<'h> {
    fn new(home: &'h Home) -> Self {
        let alpha = home.editor("Alpha");
        Self {
            home,
            port: alpha.port(),
            alpha: Some(alpha),
            ghost: None,
            beta: Some(home.editor("Beta")),
            strays: Vec::new(),
        }
    }

    fn close_beta(&mut self) {
        if let Some(beta) = self.beta.take() {
            let arrived = beta.all_delivered().into_iter();
            self.strays.extend(arrived.map(|delivery| delivery.kind));
        }
    }

    fn open_beta(&mut self, port: u16) {
        self.close_beta();
        self.beta = Some(self.home.editor_on("Beta", port));
    }

    fn open_alpha(&mut self) {
        // A ghost that is laid to rest takes the file along.
        self.ghost = None;
        let alpha = self.home.editor("Alpha");
        self.port = alpha.port();
        self.alpha = Some(alpha);
    }

    /// One change of the scene.
    fn turn(&mut self, dice: &mut Dice) {
        match (dice.roll(5), self.alpha.take()) {
            (0, alpha) => {
                self.alpha = alpha;
                self.open_beta(0);
            }
            (1, alpha) => {
                self.alpha = alpha;
                self.close_beta();
            }
            // Alpha comes back on another port than it had.
            (2, Some(alpha)) => {
                drop(alpha);
                self.open_beta(self.port);
                self.open_alpha();
            }
            (3, Some(alpha)) => {
                drop(alpha);
                self.open_beta(self.port);
            }
            // No Editor starts within the time that its predecessor's heartbeat takes to look old.
            (4, Some(alpha)) => {
                alpha.crash();
                alpha.date_heartbeat_back(30);
                self.ghost = Some(alpha);
                self.open_beta(self.port);
            }
            (_, alpha) => {
                self.alpha = alpha;
                if self.alpha.is_none() {
                    self.open_alpha();
                }
            }
        }
    }
}

/// A call that names no Editor, or Alpha in some spelling.
fn friendly(dice: &mut Dice, alpha: Option<&Editor>) -> (&'static str, Value) {
    let mut spellings = vec![json!(null), json!(" ")];
    if let Some(alpha) = alpha {
        spellings.push(json!(alpha.id()));
        spellings.push(json!(alpha.port()));
        spellings.push(json!(format!(" {} ", alpha.id())));
    }
    let (tool, mut arguments) = match dice.roll(12) {
        0 => ("execute_code", execute(WHERE)),
        1 => (
            "manage_gameobject",
            json!({"action": "modify", "target": "Nobody"}),
        ),
        2..4 => match alpha {
            Some(alpha) => return ("set_active_instance", json!({"instance": alpha.id()})),
            None => ("manage_scene", json!({"action": "get_active"})),
        },
        4..8 => ("manage_scene", json!({"action": "get_active"})),
        _ => (
            "manage_asset",
            json!({"action": "search", "path": "Assets"}),
        ),
    };
    if dice.roll(3) == 0 {
        let at = dice.roll(spellings.len());
        arguments["unity_instance"] = spellings.swap_remove(at);
    }
    (tool, arguments)
}

/// A call that names Beta.
fn hostile(dice: &mut Dice, beta: &Editor) -> (&'static str, Value) {
    let spellings = [json!(beta.id()), json!(beta.port().to_string())];
    let named = spellings[dice.roll(spellings.len())].clone();
    match dice.roll(2) {
        0 => ("set_active_instance", json!({"instance": named.as_str()})),
        _ => (
            "manage_scene",
            json!({"action": "get_active", "unity_instance": named}),
        ),
    }
}

fn a_bound_session_reaches_its_project_only(home: &Home) {
    let mut scene = Scene::new(home);
    let alpha = scene.alpha.as_ref().unwrap();
    let (root, assets) = (
        alpha.root().display().to_string(),
        alpha.root().join("Assets"),
    );
    let launch = Launch::relay().env("VRC_MCP_PROXY_PROJECT", &root);
    let mut client = starting(|| {
        let mut client = Client::start(home, &launch);
        assert_eq!(client.code(WHERE).value(), json!(assets));
        client
    });
    let mut dice = Dice(SEED);
    let until = Instant::now() + TIME;
    let (mut meant, mut reached, mut refused) = (0, 0, 0);
    for call in 0..CALLS {
        if Instant::now() > until {
            break;
        }
        if call % CALLS_PER_SCENE == 0 {
            scene.turn(&mut dice);
        }
        let beta = scene.beta.as_ref().filter(|_| dice.roll(6) == 0);
        let for_beta = beta.is_some();
        let (tool, arguments) = match beta {
            Some(beta) => hostile(&mut dice, beta),
            None => friendly(&mut dice, scene.alpha.as_ref()),
        };
        let before = scene
            .alpha
            .as_ref()
            .map(|alpha| alpha.all_delivered().len());
        let answer = client.call_once(tool, &arguments);
        let ours = facts(&answer)[0]["behavior"] == "project_binding";
        if !for_beta && scene.ghost.is_some() && !ours {
            // Its port is not Beta's, so the server may look for itself.
            assert!(answer.missed(), "{tool} {arguments}: {}", answer.0.raw);
        } else if ours && facts(&answer)[0]["code"] == "port_taken_over" {
            // Also when Alpha has just moved: the server may still know its old port.
            refused += 1;
        } else if for_beta || scene.alpha.is_none() {
            assert!(ours, "{tool} {arguments}: {}", answer.0.raw);
            assert!(answer.is_error() && facts(&answer)[0]["forwarded"] == false);
            refused += 1;
        } else if tool != "set_active_instance" {
            meant += 1;
            let after = scene
                .alpha
                .as_ref()
                .map(|alpha| alpha.all_delivered().len());
            reached += usize::from(after > before);
            if tool == "execute_code" && answer.succeeded() {
                assert_eq!(answer.value(), json!(assets), "{}", answer.0.raw);
            }
        }
    }
    scene.close_beta();
    // In the 0.3 s of its probe a busy machine may miss Alpha, and upstream then takes whoever it finds. It says so.
    let log = std::fs::read_to_string(home.path(SERVER_LOG)).unwrap();
    let lost = log.matches("falling back to port scan").count();
    let strays = &scene.strays;
    assert!(
        strays.len() <= lost * STRAYS_OF_ONE,
        "{strays:?} reached Beta; the server lost Alpha {lost} times; {reached} of {meant} calls reached Alpha"
    );
    assert!(refused > 0 && meant > 0);
    // The probe's misses again.
    assert!(
        reached * 2 > meant,
        "{reached} of {meant} calls reached Alpha"
    );
}
