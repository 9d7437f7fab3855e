/**
 * The table of the sandbox: folders and files that commands must not see, and those of the workspace that they must not change. Paths are
 * relative to the user's home or to a root of the workspace unless they are absolute. Everything else may be read, and only the workspace
 * and the session's own temporary folder may be written (boundary.ts).
 */

/** Keys, logins and the sockets of services that act for the user. PARLEY_HOME is hidden wherever it lies. */
export const HIDDEN_IN_HOME: readonly string[] = [
  // Keys and passwords.
  ".ssh",
  ".gnupg",
  ".password-store",
  ".local/share/keyrings",
  ".config/sops",
  ".config/age",
  ".pki",
  ".netrc",
  "_netrc",
  ".pgpass",
  ".my.cnf",
  ".mylogin.cnf",
  ".git-credentials",
  ".config/git/credentials",
  ".vault-token",
  ".config/op",
  ".config/Bitwarden CLI",
  // Clouds and clusters.
  ".aws",
  ".azure",
  ".config/gcloud",
  ".boto",
  ".oci",
  ".kube",
  ".docker",
  ".config/containers",
  ".terraform.d",
  ".terraformrc",
  ".config/doctl",
  ".config/hcloud",
  ".config/rclone",
  ".s3cfg",
  ".fly",
  ".config/heroku",
  ".config/netlify",
  ".local/share/com.vercel.cli",
  ".wrangler",
  ".config/.wrangler",
  // Forges and registries.
  ".config/gh",
  ".config/glab-cli",
  ".config/hub",
  ".npmrc",
  ".yarnrc.yml",
  ".pypirc",
  ".gem/credentials",
  ".cargo/credentials",
  ".cargo/credentials.toml",
  ".m2/settings.xml",
  ".m2/settings-security.xml",
  ".gradle/gradle.properties",
  ".config/composer/auth.json",
  ".config/pip/pip.conf",
  ".huggingface",
  ".cache/huggingface/token",
  // Other agents, with their logins and conversations.
  ".claude",
  ".claude.json",
  ".codex",
  ".gemini",
  ".qwen",
  ".ante",
  ".aionrs",
  ".config/opencode",
  ".local/share/opencode",
  ".config/github-copilot",
  ".cursor",
  // Browsers and mail.
  ".mozilla",
  ".config/google-chrome",
  ".config/chromium",
  ".config/BraveSoftware",
  ".thunderbird",
  // Virtual machines whose sockets take orders.
  ".colima",
  ".lima",
  ".orbstack",
  ".rd",
  // The past.
  ".bash_history",
  ".zsh_history",
  ".python_history",
  ".node_repl_history",
  ".psql_history",
  ".mysql_history",
  // The same on macOS.
  "Library/Keychains",
  "Library/Cookies",
  "Library/Mail",
  "Library/Messages",
  "Library/Safari",
  "Library/Application Support/Google/Chrome",
  "Library/Application Support/Firefox",
];

/** Matters to the system's administrator alone: other users may not read these files anyway. */
export const HIDDEN_OF_SYSTEM: readonly string[] = [
  "/etc/shadow",
  "/etc/gshadow",
  "/etc/sudoers",
  "/etc/sudoers.d",
  "/etc/kubernetes",
  "/var/lib/docker",
  "/var/lib/containerd",
  "/var/lib/kubelet",
  "/var/lib/incus",
  "/var/lib/lxd",
  "/var/snap/lxd",
];

/** Variables that name a socket or a display: nothing of theirs can be reached. */
export const LEFT_OUT: readonly string[] = [
  "SSH_AUTH_SOCK",
  "SSH_AGENT_PID",
  "GPG_AGENT_INFO",
  "DBUS_SESSION_BUS_ADDRESS",
  "DBUS_SYSTEM_BUS_ADDRESS",
  "XDG_RUNTIME_DIR",
  "DISPLAY",
  "WAYLAND_DISPLAY",
  "XAUTHORITY",
  "DOCKER_HOST",
  "CONTAINER_HOST",
  "TMUX",
  "STY",
  "VSCODE_IPC_HOOK_CLI",
  "VSCODE_GIT_IPC_HANDLE",
];

/** Variables that name a proxy of the system: only a command with the system's network can reach it. */
export const PROXIES: readonly string[] = ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "FTP_PROXY"].flatMap((name) => [
  name,
  name.toLowerCase(),
]);

/** Read-only in each root of the workspace, where they exist: a program of the user runs or believes them later, outside the sandbox. */
export const KEPT: readonly string[] = [
  ".agents",
  ".claude",
  ".codex",
  ".cursor",
  ".gemini",
  ".qwen",
  ".vscode",
  ".idea",
  ".devcontainer",
  ".githooks",
  ".husky",
  ".github/workflows",
  ".gitconfig",
  ".config/git",
  ".gitmodules",
  ".mcp.json",
  ".envrc",
  ".npmrc",
  ".bashrc",
  ".bash_aliases",
  ".bash_login",
  ".bash_logout",
  ".bash_profile",
  ".profile",
  ".login",
  ".cshrc",
  ".tcshrc",
  ".kshrc",
  ".zshrc",
  ".zshenv",
  ".zprofile",
  ".zlogin",
  ".zlogout",
  ".config/fish",
  ".config/autostart",
  ".config/systemd",
  ".local/bin",
  "Library/LaunchAgents",
];

/** Git's own files that name programs, or say where such files lie. Everything else in `.git` may change, so that commits are possible. */
export const KEPT_IN_GIT: readonly string[] = ["config", "hooks", "config.worktree", "commondir", "modules", "worktrees"];

/** Of these, those that lead git to another configuration where they come up. */
export const BARRED_IN_GIT: readonly string[] = ["config.worktree", "commondir"];
