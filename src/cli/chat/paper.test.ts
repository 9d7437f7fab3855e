import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Paper } from "./paper.js";

/** A screen as a list of lines, whose last one may belong to whoever writes. */
function sheet() {
  let shown = "";
  const paper = new Paper({ write: (text: string) => void (shown += text) });
  const line = { erase: () => void (shown = shown.slice(0, shown.lastIndexOf("\n") + 1)), draw: () => void (shown += "> abc") };
  return {
    paper,
    begin() {
      paper.lend(line);
      line.draw();
    },
    enter() {
      shown += "\n";
      paper.takeBack();
    },
    shown: () => shown,
  };
}

describe("what is shown", () => {
  test("goes out as it comes, and in whole lines above the one that is being written", () => {
    const { paper, begin, enter, shown } = sheet();
    paper.write("The du");
    expect(shown()).toBe("The du");
    begin();
    paper.write("cks fly");
    expect(shown()).toBe("The du\n> abc");
    paper.write(" home.\nThen ");
    expect(shown()).toBe("The du\ncks fly home.\n> abc");
    enter();
    expect(shown()).toBe("The du\ncks fly home.\n> abc\nThen ");
  });

  test("has no empty line where one was broken off at its end", () => {
    const { paper, begin, shown } = sheet();
    paper.write("done");
    begin();
    paper.write("\nnext\n");
    expect(shown()).toBe("done\nnext\n> abc");
  });

  test("is shown when nothing more comes", () => {
    const { paper, begin, shown } = sheet();
    begin();
    paper.write("the end");
    paper.flush();
    paper.flush();
    expect(shown()).toBe("the end\n> abc");
  });

  test("is all of it, in order, whenever somebody writes", () => {
    const step = fc.oneof(fc.stringMatching(/^[xyz\n]{0,4}$/), fc.constantFrom("BEGIN", "ENTER"));
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const { paper, begin, enter, shown } = sheet();
        let isWriting = false;
        for (const text of [...steps, ...(steps.lastIndexOf("BEGIN") > steps.lastIndexOf("ENTER") ? ["ENTER"] : [])]) {
          if (text !== "BEGIN" && text !== "ENTER") paper.write(text);
          else if (isWriting === (text === "ENTER")) {
            isWriting = !isWriting;
            if (isWriting) begin();
            else enter();
          }
        }
        const told = steps.filter((text) => text !== "BEGIN" && text !== "ENTER").join("");
        expect(shown().replaceAll("> abc", "").replaceAll("\n", "")).toBe(told.replaceAll("\n", ""));
      }),
    );
  });
});
