/**
 * Variables that programs run as a command, or that decide what programs run: `PAGER='rm x' git log` runs `rm x`; `MAKEFLAGS=--eval=…` runs its text. PATH,
 * HOME and others decide much more and are not in this list: see docs/security.md.
 */
import { baseName, type ShellWord } from "./words.js";

/** The value of these variables is a command. */
const COMMAND =
  /(?:PAGER|EDITOR|VISUAL|BROWSER|COMMAND|ASKPASS|LESSOPEN|LESSCLOSE|_RSH|_SSH|_WRAPPER|_LINKER|_RUNNER|GIT_EXTERNAL_DIFF|KUBECTL_EXTERNAL_DIFF|HGMERGE|FCEDIT|CCACHE_PREFIX|BORG_PASSCOMMAND)$/;
const TOOL = /^(?:CC|CXX|CPP|LD|AR|AS|NM|RANLIB|STRIP|FC|F77|YACC|LEX|MAKE|PKG_CONFIG|RSH|RUSTC|RUSTDOC|PERL5DB|PERL5SHELL)$/;

/** The value of these variables is no command, but decides what runs; values that match the pattern do not. */
const SETTINGS: readonly (readonly [name: RegExp, harmless: RegExp])[] = [
  // Shells
  [
    /^(?:BASH_ENV|BASH_ALIASES|BASH_CMDS|ENV|PS0|PS4|BASH_FUNC_.*|BASHOPTS|SHELLOPTS|ZDOTDIR|LD_PRELOAD|LD_AUDIT|DYLD_INSERT_LIBRARIES)$/,
    /^$/,
  ],
  [/^(?:SHELL|CONFIG_SHELL|MAKESHELL)$/, /^(?:\/usr)?\/bin\/(?:ba|da|z)?sh$/],
  // Git
  [/^GIT_CONFIG(?:_GLOBAL|_SYSTEM|_PARAMETERS)?$/, /^(?:\/dev\/null)?$/],
  [/^GIT_CONFIG_KEY_\d+$/, /^(?:user|author|committer|color|advice|safe\.directory)\b/i],
  [/^GIT_(?:EXEC_PATH|TEMPLATE_DIR|DIR|COMMON_DIR|PROXY_.*)$/, /^$/],
  [/^GIT_TRACE/, /^(?:[012]|true|false)?$/i],
  // Options given by a variable
  [/^(?:TAR_OPTIONS|ZIPOPT|LESSKEY.*|MANOPT|RIPGREP_CONFIG_PATH|WGETRC|SYSTEM_WGETRC|CURL_HOME|OPENSSL_CONF|TF_CLI_.*|PSQLRC)$/, /^$/],
  [/^LESS$/, /^-?[a-zA-Z]*$/],
  [/^(?:GNUMAKEFLAGS|MAKEFLAGS|MFLAGS)$/, /^(?:[-\sjklsinwBS\d]|no-print-directory)*$/],
  [/^FZF_DEFAULT_OPTS/, /^(?!.*(?:bind|execute|preview))/s],
  [/^PYTEST_(?:ADDOPTS|PLUGINS)$/, /^[-\sqvxsl]*$/],
  // Interpreters
  [/^NODE_OPTIONS$/, /^(?!.*(?:require|import|loader|inspect|-r|prof|report|redirect|trace-event|openssl|env-file))/s],
  [
    /^(?:PERL5OPT|RUBYOPT|LUA_INIT.*|ERL_.*FLAGS|ELIXIR_ERL_OPTIONS|PHPRC|PHP_INI_SCAN_DIR|R_PROFILE.*|PYTHONSTARTUP|PYTHONHOME|PYTHONINSPECT|PYTHONBREAKPOINT)$/,
    /^0?$/,
  ],
  [
    /^(?:JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|JAVA_OPTS|MAVEN_OPTS|GRADLE_OPTS|SBT_OPTS)$/,
    /^(?!.*(?:agent|OnError|OnOutOfMemory|bootclasspath|@))/s,
  ],
  [/^(?:DOTNET_STARTUP_HOOKS|CORECLR_PROFILER.*|COR_PROFILER.*)$/, /^$/],
  // Builds and packages
  [
    /^(?:MAKEFILES|SCONSFLAGS|GCC_EXEC_PREFIX|COMPILER_PATH|CMAKE_(?:C|CXX)_COMPILER(?:_LAUNCHER)?|CMAKE_TOOLCHAIN_FILE|CARGO_BUILD_RUSTC\w*|CARGO_ALIAS_.*)$/,
    /^$/,
  ],
  [
    /^(?:RUSTFLAGS|CARGO_ENCODED_RUSTFLAGS|RUSTDOCFLAGS|CARGO_.*_RUSTFLAGS|GOFLAGS)$/,
    /^(?!.*(?:link|plugin|-Z|exec|ldflags|overlay|modfile))/s,
  ],
  [/^npm_config_/i, /^(?:silent|error|warn|notice|http|timing|info|verbose|silly|true|false|\d*)$/],
  [/^(?:EXINIT|VIMINIT|GVIMINIT|INPUTRC)$/, /^$/],
];

/** Programs that take `NAME=value` among their words. */
const SETTING = new Set(
  "env export declare typeset readonly local sudo doas make gmake cross-env cross-env-shell configure systemd-run".split(" "),
);

/** A value that a program may run as a command. */
export interface RunValue {
  name: string;
  value: string;
  kind: ShellWord["kind"];
  /** The value is no command, so the code that it runs is unseen. */
  settings?: true;
}

/** Variables that the words of a command, or assignments before it, set. */
export function runningValues([first, ...rest]: readonly ShellWord[]): RunValue[] {
  const named = SETTING.has(baseName(first?.value ?? "")) ? rest : [];
  return [...(first === undefined ? [] : [first]), ...named].flatMap(({ value, kind }) => {
    const [, name = "", set = ""] = /^(?:--setenv=)?([A-Za-z_]\w*(?:%%|\(\))?)(?:\[[^\]]*\])?\s*[+:?]?=(.*)$/s.exec(value) ?? [];
    return runValue(name, set, kind);
  });
}

/** A variable that is set in another way, to an unknown value. */
export function unknownValue(name: string): RunValue[] {
  return runValue(name, "", "expansion");
}

function runValue(name: string, set: string, kind: ShellWord["kind"]): RunValue[] {
  // A leading pipe tells less that the value is a command.
  if (COMMAND.test(name) || TOOL.test(name)) return [{ name, value: set.replace(/^\|*-?/, ""), kind }];
  const harmless = SETTINGS.find(([names]) => names.test(name))?.[1];
  if (harmless === undefined || (kind === "literal" && harmless.test(set))) return [];
  return [{ name, value: set, kind, settings: true }];
}
