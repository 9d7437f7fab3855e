/**
 * Options and words by which well-known programs run something, load what decides what runs, or write a file, though their names do not
 * say so: data, read by risks.ts. Programs that run their other words are in wrappers.ts, unwrap.ts and runners.ts.
 *
 * Written as words, separated by spaces: `-o` a letter, `--output` a long option (also shortened), `-out` one behind a single dash;
 * `-o=` the same with a value. `@2` is the second operand and those behind it, `+*` a word that begins with a plus, `of=` one with `of=`.
 */
export interface RiskRow {
  /** The option runs a command that is given in words: deny and ask rules cannot judge it. */
  runs?: string;
  runsText?: RegExp;
  /** The option names a file or a setting that decides what runs: no allow rule covers it. */
  loads?: string;
  loadsText?: RegExp;
  writes?: string;
  writesText?: RegExp;
  /** Other letters that take a value, so that the rest of the word is not letters. */
  valued?: string;
  /** Long options cannot be shortened. */
  exact?: true;
  /** Long options have one dash, and letters cannot be joined. */
  single?: true;
  /** Options end at the first operand. */
  early?: true;
}

const SSH_SETTING = /(?:proxy|local|knownhosts|authorizedkeys)command|pkcs11provider|securitykeyprovider/i;

const ROWS: readonly (readonly [programs: string, row: RiskRow])[] = [
  // Text and files
  ["sort gsort", { runs: "--compress-program=", writes: "-o= --output=", valued: "kStT" }],
  ["uniq", { writes: "@2", valued: "fsw" }],
  ["tee", { writes: "@1" }],
  ["dd", { writes: "of=" }],
  ["shuf", { writes: "-o= --output=", valued: "in" }],
  ["iconv", { writes: "-o= --output=", valued: "ft" }],
  ["base64 base32", { writes: "-o= --output=", valued: "biw" }],
  ["xxd", { single: true, writes: "@2", valued: "cglosnR" }],
  ["split gsplit", { runs: "--filter=", valued: "abClnt" }],
  ["tree", { writes: "-o= -R", valued: "LPIHT" }],
  ["find gfind", { single: true, writes: "-delete -fls= -fprint= -fprint0= -fprintf=" }],
  ["fd fdfind", { exact: true, runs: "-x= -X= --exec= --exec-batch=", valued: "dEtecjSo" }],
  ["rg", { exact: true, runs: "--pre= --hostname-bin=", loads: "-z --search-zip", valued: "ABCdEefgjmMrtT" }],
  ["ag ack", { runs: "--pager=", loads: "--ackrc=" }],
  ["ugrep ug", { runs: "--filter= --pager= --view=", writes: "--save-config=" }],
  [
    "less",
    {
      runs: "+* --lesskey-content=",
      loads: "-k= --lesskey-file= --lesskey-src=",
      writes: "-o= -O= --log-file= --LOG-FILE=",
      valued: "bDhjpPtTxyz#",
    },
  ],
  ["more most pg", { runs: "+*" }],
  ["man", { runs: "-P= --pager= -H --html -X --gxditview", loads: "-C= --config-file= -M= --manpath=", valued: "eELmprRsS" }],
  ["bat batcat", { exact: true, runs: "--pager=" }],
  ["delta", { exact: true, runs: "--pager=", loads: "--config=" }],
  ["fzf", { exact: true, runs: "--preview= --bind= --become= --with-shell=" }],
  ["sed gsed", { loads: "-f= --file=", writes: "-i -I --in-place", valued: "el" }],
  [
    "awk gawk mawk nawk original-awk",
    {
      runsText: /system|getline|\||@/,
      loads: "-f= --file= -E= --exec= -i= --include= -l= --load= -W= -D --debug",
      writes: "-d --dump-variables -o --pretty-print -p --profile",
      writesText: />/,
      valued: "Fv",
      early: true,
    },
  ],
  ["diff3 sdiff", { runs: "--diff-program=", writes: "-o= --output=" }],
  ["patch", { runs: "-e --ed", writes: "-o= --output= -r= --reject-file=", valued: "BDdFgipVYz" }],
  ["file", { writes: "-C --compile" }],
  ["ldd", { loads: "@1" }],
  ["xmllint", { runs: "--shell", writes: "-o= --output=" }],
  ["xsltproc", { writes: "-o= --output= --writesubtree=" }],
  ["yq", { exact: true, writes: "-i --inplace -s= --split-exp=" }],
  ["cowsay", { loads: "-f=" }],
  // Archives
  [
    "tar gtar bsdtar",
    {
      runs: "-I= --use-compress-program= -F= --info-script= --new-volume-script= --to-command= --checkpoint-action= --rsh-command= --rmt-command=",
      loads: "-T= --files-from=",
      writes: "-g= --listed-incremental= --index-file= --volno-file=",
      valued: "bCfHKLNVX",
    },
  ],
  ["cpio", { runs: "--rsh-command=" }],
  ["zip", { runsText: /^-[a-zA-Z]*TT|^--unzip-c/ }],
  // Network
  [
    "curl",
    {
      loads: "-K= --config= --engine=",
      writes:
        "-o= --output= -O --remote-name --remote-name-all -J --remote-header-name --output-dir= -D= --dump-header= -c= --cookie-jar= --trace= --trace-ascii= --stderr= --hsts= --alt-svc= --etag-save= --libcurl= --ssl-sessions= --create-dirs",
      writesText: /%output\{/,
      valued: "AbCdeEFHmPQrtTuUwxXyYz",
    },
  ],
  [
    "wget wget2",
    {
      runs: "-e= --execute= --use-askpass=",
      loads: "--config=",
      writes:
        "-O= --output-document= -o= --output-file= -a= --append-output= -P= --directory-prefix= --save-cookies= --warc-file= --rejected-log= --hsts-file=",
      valued: "ABDIilQRtTUwX",
    },
  ],
  ["aria2c", { runsText: /^--on-/, loads: "--conf-path=", writes: "-d= --dir= -o= --out= -l= --log= --save-session=" }],
  ["http https xh", { writes: "-o= --output= -d --download" }],
  ["ssh autossh", { runsText: SSH_SETTING, loads: "-F= -I=", writes: "-E=", valued: "BbcDeiJLlmOopQRSWw" }],
  ["scp", { runs: "-S= -D=", runsText: SSH_SETTING, loads: "-F=", valued: "ciJloPX" }],
  ["sftp", { runs: "-S= -D=", runsText: SSH_SETTING, loads: "-F= -b=", valued: "BciJloPRsX" }],
  ["ssh-keygen ssh-add ssh-keyscan", { runs: "-D= -w= -s= -S=" }],
  [
    "rsync",
    {
      runs: "-e= --rsh= --rsync-path= -M= --remote-option=",
      loads: "--config=",
      writes: "--log-file= --write-batch= --only-write-batch= --backup-dir= --partial-dir= -T= --temp-dir=",
      valued: "Bf@",
    },
  ],
  ["nc ncat netcat", { runsText: /^-[a-zA-Z]*[ec]|^--(?:exec|sh-exec|lua-exec)/, writes: "-o= --output=" }],
  ["socat", { runsText: /EXEC|SYSTEM|SHELL/i, writesText: /CREATE|OPEN:/i }],
  ["nmap", { runs: "--interactive", loads: "--script= --datadir=", writesText: /^-o[NXSGA]/ }],
  ["tcpdump", { runs: "-z=", writes: "-w=" }],
  ["tshark", { loads: "-X=", writes: "-w=" }],
  [
    "openssl",
    {
      single: true,
      loads: "-engine= -provider= -provider-path= -config=",
      writes: "-out= -keyout= -outdir= -writerand= -keylogfile= -sess_out=",
    },
  ],
  ["openvpn", { runsText: /^--(?:up|down|route-|tls-verify|client-|auth-user-pass-verify|learn-address|plugin)/, loads: "--config=" }],
  [
    "gpg gpg2",
    {
      runs: "--photo-viewer= --agent-program= --dirmngr-program= --exec-path=",
      loads: "--homedir= --options=",
      writes: "-o= --output= --status-file= --logger-file= --log-file= --attribute-file=",
      valued: "ruN",
    },
  ],
  ["restic borg", { runs: "--password-command= --rsh= --rclone.program= -o= --option=" }],
  ["mail mailx", { runs: "--exec= -~" }],
  // Builds and packages
  [
    "make gmake",
    {
      runsText: /^--ev|^-[a-zA-Z]*E|^SHELL[:+?]?=|^\.SHELLFLAGS|^-$|^-f-$/,
      loads: "-f= --file= --makefile= -C= --directory= -I= --include-dir=",
      loadsText: /^[A-Za-z_.][\w.]*\s*[:+?!]*=/,
      valued: "oW",
    },
  ],
  ["cmake", { runs: "-E", loads: "-P= -C=" }],
  ["ninja samu", { loads: "-f= -C=" }],
  ["just", { exact: true, runs: "--shell= --shell-arg= -c= --command= --chooser=", loads: "-f= --justfile= -d= --working-directory=" }],
  [
    "gcc g++ cc c++ clang clang++ cpp c89 c99 tcc gfortran",
    {
      runsText: /^-wrapper/,
      writesText: /^-o|^--output/,
      loadsText: /^-(?:B|fplugin|specs|-specs|wrapper|Wl,|Xlinker|Xclang|load|fuse-ld|run)|^@/,
    },
  ],
  ["ld gold ar nm ranlib", { loads: "--plugin=" }],
  ["rustc", { loadsText: /linker|link-arg|^@/, writesText: /^-o|^--(?:out-dir|emit=.*=)/ }],
  [
    "cargo",
    {
      exact: true,
      runsText: /(?:rustc|wrapper|linker|runner|credential-provider|rustflags|browser|alias)[\w.'"-]{0,40}\s{0,9}=\s{0,9}['"[]/,
      loads: "--config= -Z= -C= --manifest-path=",
      writes: "--fix --artifact-dir= --out-dir= --target-dir=",
      writesText: /^fix$/,
    },
  ],
  [
    "go",
    {
      single: true,
      runs: "-exec= -toolexec= -vettool=",
      runsText: /extld/,
      loads: "-C= -overlay= -modfile= -ldflags= -gcflags= -asmflags= -compiler=",
      writes: "-o= -w -outputdir= -coverprofile= -cpuprofile= -memprofile= -blockprofile= -mutexprofile= -trace=",
    },
  ],
  ["gofmt goimports", { single: true, writes: "-w -cpuprofile=" }],
  ["java", { runsText: /^-XX:On(?:Error|OutOfMemoryError)/, loadsText: /^-(?:agent|javaagent|Xrun|Xbootclasspath)|^@/ }],
  ["mvn mvnw", { runsText: /^exec:|^-Dexec\.|:exec-maven|antrun:/, loads: "-f= --file= -s= --settings=" }],
  ["gradle gradlew", { loads: "-I= --init-script= -b= --build-file= -c= --settings-file= -p= --project-dir= --include-build=" }],
  ["npx pnpx bunx", { exact: true, early: true, runs: "-c= --call= --shell= --node-options=", valued: "pw" }],
  [
    "npm pnpm yarn",
    {
      exact: true,
      runs: "--script-shell= --node-options= --shell= --call= --git= --editor= --viewer=",
      runsText: /^(?:script-shell|node-options|shell|viewer|editor|git|browser)(?:=|$)|^scripts\./,
      loads: "--prefix= -C= --dir= --cwd= --userconfig= --globalconfig= --init-module= --onload-script=",
      writes: "--cache= --logs-dir=",
    },
  ],
  ["pip pip3", { runs: "--python=", writes: "--log= --log-file= --report= -d= --dest= -t= --target= --prefix= --root=", valued: "reciw" }],
  ["uv", { loadsText: /^--(?:python|config-file)(?:=|$)/ }],
  ["apt apt-get aptitude", { runsText: /invoke|dir::bin|hook/i, loads: "-o= --option= -c= --config-file=" }],
  ["dnf yum", { loads: "-c= --config= --setopt= --installroot=" }],
  ["dpkg", { runs: "--pre-invoke= --post-invoke= --status-logger=" }],
  ["rpm", { runsText: /%\(|^--(?:eval|pipe|define)/ }],
  [
    "pytest py.test",
    {
      exact: true,
      loads: "-p= -c= --config-file= --cov-config= --rootdir= --confcutdir= -o= --override-ini= --pdbcls=",
      writes: "--basetemp= --junitxml= --junit-xml= --log-file= --cov-report= --report-log= --html= --debug= --resultlog=",
      valued: "kmnrW",
    },
  ],
  [
    "eslint",
    {
      exact: true,
      loads: "-c= --config= --rulesdir= --parser= --plugin= --resolve-plugins-relative-to= -f= --format=",
      writes: "--fix -o= --output-file= --cache-location= --cache-file= --init --suppress-all --suppress-rule= --prune-suppressions",
    },
  ],
  ["prettier", { exact: true, loads: "--config= --plugin= --plugin-search-dir=", writes: "-w --write --cache-location=" }],
  ["biome", { exact: true, loads: "--config-path=", writes: "--write --fix --apply --apply-unsafe --unsafe" }],
  ["oxlint", { exact: true, loads: "-c= --config= --tsconfig=", writes: "--fix --fix-suggestions --fix-dangerously --init" }],
  [
    "pylint",
    { runs: "--init-hook=", loads: "--load-plugins= --rcfile= --import-graph= --output-format= -f=", writes: "--output=", valued: "jdes" },
  ],
  ["flake8", { loads: "--config= --append-config=", writes: "--output-file= --tee" }],
  [
    "rubocop",
    {
      loads: "-r= --require= -c= --config= -f= --format= --plugin=",
      writes: "-a -A --autocorrect --autocorrect-all --auto-gen-config -x -o= --out=",
    },
  ],
  ["rspec", { loads: "-r= --require= -O= --options= -f= --format=", writes: "-o= --out=", valued: "IePt" }],
  [
    "phpunit",
    { loads: "--bootstrap= -c= --configuration= --prepend= --extension=", writesText: /^--(?:log-|coverage-|testdox-\w+$|generate)/ },
  ],
  [
    "tsc",
    {
      loadsText: /^@/,
      writesText: /^--?(?:init|outdir|outfile|out|declarationdir|tsbuildinfofile|generatetrace|generatecpuprofile)$/i,
    },
  ],
  [
    "vitest jest mocha",
    {
      exact: true,
      loads:
        "-c= --config= -r= --require= --import= --loader= --globalSetup= --setupFiles= --testEnvironment= --runner= --testRunner= --preset= --rootDir= --transform= --resolver=",
      writes: "-u --update --updateSnapshot --outputFile= --coverageDirectory=",
    },
  ],
  ["ruff", { exact: true, loads: "--config=", writes: "--fix --fix-only -o= --output-file= --add-noqa --cache-dir=" }],
  ["mypy", { runs: "--python-executable=", loads: "--config-file=", writes: "--junit-xml= --cache-dir=", writesText: /^--.*-report/ }],
  // Containers and clouds
  [
    "docker podman nerdctl",
    { exact: true, early: true, loads: "--config=", writesText: /^-o|^--(?:output|iidfile|cidfile|metadata-file)/, valued: "cHl" },
  ],
  ["kubectl oc", { exact: true, loads: "--kubeconfig=", writes: "--cache-dir= --profile-output= --output-directory=" }],
  ["helm", { exact: true, runs: "--post-renderer=", loads: "--kubeconfig= --registry-config=", writes: "--output-dir=" }],
  ["terraform tofu", { single: true, loads: "-chdir= -plugin-dir=", writes: "-out= -state-out= -backup= -generate-config-out=" }],
  [
    "gh",
    {
      exact: true,
      runsText: /^!|^--(?:shell|upload-pack|config)(?:=|$)|^-c$/,
      loadsText: /^(?:alias|extensions?|ext|pager|editor|browser)$/,
      writes: "-O= --output= -D= --dir=",
    },
  ],
  // Version control; git's commands have rows of their own
  ["svn", { runs: "--diff-cmd= --diff3-cmd= --editor-cmd= --config-option=", loads: "--config-dir=" }],
  ["hg", { runs: "--config=", loads: "-R= --repository= --cwd=" }],
  ["git archive", { runs: "--exec=", writes: "-o= --output=" }],
  ["git bisect", { runsText: /^run$/ }],
  ["git apply", { writes: "--unsafe-paths" }],
  ["git checkout-index", { writes: "--prefix=", valued: "" }],
  ["git interpret-trailers", { writes: "--in-place" }],
  ["git blame annotate cat-file", { loads: "--textconv --filters" }],
  ["git bundle", { writesText: /^create$/ }],
  ["git clone", { runs: "-u= --upload-pack=", loads: "--template=", writes: "--separate-git-dir=" }],
  ["git config", { loads: "-e --edit -f= --file=" }],
  ["git daemon", { runs: "--access-hook=" }],
  ["git difftool", { runs: "-x= --extcmd=", loads: "-t= --tool= -g --gui" }],
  ["git mergetool", { loads: "-t= --tool= -g --gui" }],
  ["git fast-export fast-import", { writes: "--export-marks=" }],
  ["git fetch pull ls-remote fetch-pack", { runs: "--upload-pack= --exec=", valued: "joXs" }],
  ["git push send-pack", { runs: "--receive-pack= --exec=" }],
  ["git filter-branch", { runsText: /^/ }],
  ["git format-patch", { writes: "-o= --output-directory= --output=" }],
  ["git bugreport diagnose", { writes: "-o= --output-directory=" }],
  [
    "git diff log show diff-tree diff-index diff-files whatchanged stash range-diff reflog",
    {
      loads: "--ext-diff --textconv",
      writes: "--output=",
      valued: "GLOSUln",
    },
  ],
  ["git shortlog", { writes: "--output=" }],
  ["git grep", { runs: "-O --open-files-in-pager", loads: "--textconv", valued: "ABCefm" }],
  ["git init", { loads: "--template=", writes: "--separate-git-dir=" }],
  ["git instaweb", { runs: "-d= --httpd= -b= --browser=" }],
  ["git rebase", { runs: "-x= --exec=", valued: "sXC" }],
  ["git send-email", { runsText: /^--(?:smtp-server=?|sendmail-cmd|to-cmd|cc-cmd|header-cmd)/ }],
  ["git shell", { runs: "-c=" }],
  ["git submodule", { runsText: /^foreach$/ }],
  ["git svn", { runs: "--authors-prog=" }],
  ["git web--browse", { runs: "-b= --browser= -c= --config=" }],
  // Editors
  ["vi vim nvim view vimdiff ex gvim rview rvim", { runsText: /^\+|^-[a-zA-Z]*[cSsue]|^--(?:cmd|eval|remote)/, writes: "-w= -W=" }],
  ["emacs emacsclient", { runsText: /^-[a-zA-Z-]*(?:eval|e|f|l|load|funcall|script|batch)$|^--(?:eval|execute|load|funcall|script)/ }],
  ["nano pico", { runs: "-s= --speller=", loads: "-f= --rcfile=" }],
  // Databases and debuggers
  ["psql", { runsText: /\\[!a-z]|`|\bprogram\b/i, loads: "-f= --file=", writes: "-o= --output= -L= --log-file=", valued: "cdhpUvFPRT" }],
  [
    "mysql mariadb",
    {
      runsText: /\\[!.a-z]|(?:^|^-e|[=;\n])\s*(?:system|source|tee|pager|edit)\b|\binto\s+(?:out|dump)file/i,
      loads: "--init-command= --plugin-dir= --defaults-file= --defaults-extra-file=",
      writes: "--tee=",
    },
  ],
  [
    "sqlite3",
    {
      // The program's commands may be shortened.
      runsText:
        /\.(?:shell|system|load|read|import|output|once|excel|edit)|(?:^|\n)[ \t]{0,9}\.(?!(?:tables|schema|indexes|indices|databases|headers?|mode|help|show|width|separator|nullvalue|stats|version|timer|explain|eqp|limit|lint|echo|print|bail|changes|fullschema|dbinfo|dump|quit|exit|timeout)\b)[a-z]|^-cmd|^-init|\bload_extension|\bedit\s*\(/i,
      writesText: /\.(?:backup|save|dump|log|trace|clone|archive)|\bwritefile|\binto\b|\battach\b/i,
    },
  ],
  ["gdb lldb", { runsText: /^--?(?:ex|iex|eval-command|init-eval-command|x|command|source|one-line|o|s)/ }],
  // Documents
  [
    "pandoc",
    {
      runs: "-F= --filter= -L= --lua-filter= --pdf-engine=",
      loads: "-d= --defaults= --data-dir= --template= -f= --from= -r= --read= -t= --to= -w= --write=",
      writes: "-o= --output= --extract-media= --log=",
      valued: "MVHABcT",
    },
  ],
  ["tex latex pdftex pdflatex xetex xelatex luatex lualatex", { runsText: /shell-esc|write18|directlua|enable-pipes|\|/ }],
  ["latexmk", { runs: "-e=", loads: "-r=", runsText: /^-(?:pdf|xe|lua)?latex=/ }],
  ["gs", { runsText: /%pipe|^-c/i, writes: "-o=", writesText: /^-sOutputFile/ }],
  ["exiftool", { runsText: /^-(?:if|config|execute|api|userparam)/i, writesText: /=|^-(?:o|w|W|tagsfromfile|overwrite)/i }],
  // All others
  ["at", { runsText: /^[^-]/, loads: "-f=" }],
  ["crontab", { runsText: /^-$|^[^-]|^-[a-z]*e/, valued: "u" }],
  ["coreutils", { runsText: /^--coreutils-prog/ }],
  ["time gtime", { early: true, writes: "-o= --output=", valued: "f" }],
  ["logrotate run-parts", { loads: "@1" }],
  ["sysctl", { writes: "-w --write -p --load --system", writesText: /=/ }],
  ["lsof", { writes: "-D=" }],
  ["ss", { writes: "-D= --diag=" }],
  ["journalctl", { writes: "--cursor-file=" }],
  ["ip tc", { single: true, runsText: /^e(?:x(?:ec?)?)?$/, loads: "-b= -batch=" }],
];

/** Rows by program; those of git's subcommands by `git diff`. */
export const RISKS: ReadonlyMap<string, RiskRow> = new Map(
  ROWS.flatMap(([programs, row]) => {
    const [first = "", ...others] = programs.split(" ");
    return first === "git" ? others.map((name) => [`git ${name}`, row] as const) : [first, ...others].map((name) => [name, row] as const);
  }),
);
