/** Files that are known to hold keys, by name: a command that names one is asked about, also where commands that only read are not. */
import { pathPattern, PROTECTED, reach } from "../protected-paths.js";

const SECRET = [
  "*.pem",
  "*.key",
  "*.p12",
  "*.pfx",
  "*.jks",
  "*.keystore",
  "*.kdbx",
  "*.tfstate",
  "*.tfvars",
  "id_rsa*",
  "id_dsa*",
  "id_ecdsa*",
  "id_ed25519*",
  ".netrc",
  ".pgpass",
  ".pypirc",
  ".htpasswd",
  ".git-credentials",
  ".aws/",
  ".azure/",
  ".config/gcloud/",
  ".docker/",
  ".gnupg/",
  ".kube/",
  ".secrets/",
  "credentials",
  "credentials.json",
  "secrets.json",
  "secrets.toml",
  "secrets.yaml",
  "secrets.yml",
];

const PATTERNS = [...PROTECTED.flatMap(({ paths }) => paths), ...SECRET].map(pathPattern);

/** `path` is relative to the workspace. */
export function isSecretName(path: string): boolean {
  return PATTERNS.some((pattern) => reach(path, pattern) === "hit");
}
