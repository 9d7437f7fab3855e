/** Parley's own protocol as a program: a host starts `parley serve --dialect native`. */
import type { Program } from "../kit/program.js";

export const program: Program = { opensOnWire: true, hostWords: { command: "serve", switches: ["--stdio"] } };
