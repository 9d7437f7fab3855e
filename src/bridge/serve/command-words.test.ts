import { expect, test } from "vitest";
import { commandIn } from "./command-words.js";

test.each([
  ["/stop", { name: "stop", word: "", rest: "" }],
  ["  /Stop all ", { name: "stop", word: "all", rest: "" }],
  ["/deny x7k2 because it\nis wrong", { name: "deny", word: "x7k2", rest: "because it\nis wrong" }],
  ["/approve_x7k2", { name: "approve", word: "x7k2", rest: "" }],
  ["/approve_x7k2@our_bot", { name: "approve", word: "x7k2", rest: "" }],
  ["/approve@our_bot x7k2", { name: "approve", word: "x7k2", rest: "" }],
  ["/new work", { name: "new", word: "work", rest: "" }],
  ["/help", { name: "help", word: "", rest: "" }],
  ["/stopper", undefined],
  ["/compact", undefined],
  ["please /stop", undefined],
  ["/ stop", undefined],
  ["", undefined],
])("%j", (text, command) => expect(commandIn(text)).toEqual(command));
