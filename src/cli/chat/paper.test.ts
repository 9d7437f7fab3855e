import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Paper } from "./paper.js";

/** A screen as a list of lines, whose last one may belong to whoever writes. */
function sheet({ canErase = true, columns = 0 } = {}) {
  let shown = "";
  const paper = new Paper({ write: (text: string) => void (shown += text), columns });
  const line = {
    canErase,
    erase(rowsAbove: number) {
      const rows = shown.split("\n");
      shown = [...rows.slice(0, rows.length - 1 - rowsAbove), ""].join("\n");
    },
    draw: () => void (shown += "> abc"),
  };
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
  test("goes out as it comes, also above the line that is being written", () => {
    const { paper, begin, enter, shown } = sheet();
    paper.write("The du");
    expect(shown()).toBe("The du");
    begin();
    paper.write("cks fly");
    expect(shown()).toBe("The du\ncks fly\n> abc");
    paper.write(" home.\nThen ");
    expect(shown()).toBe("The du\ncks fly home.\nThen \n> abc");
    paper.write("it");
    expect(shown()).toBe("The du\ncks fly home.\nThen it\n> abc");
    enter();
    paper.write(" rains.\n");
    expect(shown()).toBe("The du\ncks fly home.\nThen it\n> abc\n rains.\n");
  });

  test("is folded into rows above the line, at a blank where there is one", () => {
    const { paper, begin, shown } = sheet({ columns: 12 });
    begin();
    paper.write("The ducks fl");
    expect(shown()).toBe("The ducks \nfl\n> abc");
    paper.write("y \u001b[2mhome\u001b[0m");
    expect(shown()).toBe("The ducks \nfly \u001b[2mhome\u001b[0m\n> abc");
    paper.write("\n鴨が飛ぶandsomethingverylong");
    expect(shown()).toBe("The ducks \nfly \u001b[2mhome\u001b[0m\n鴨が飛ぶand\nsomethingve\nrylong\n> abc");
  });

  test("comes in whole lines where nothing can be taken off the screen", () => {
    const { paper, begin, enter, shown } = sheet({ canErase: false });
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
      fc.property(fc.array(step), fc.boolean(), fc.constantFrom(0, 3), (steps, canErase, columns) => {
        const { paper, begin, enter, shown } = sheet({ canErase, columns });
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
