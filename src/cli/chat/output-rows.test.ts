import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { OutputRows } from "./output-rows.js";

/** A screen as a list of lines, whose last one may belong to whoever writes. */
function sheet({ canErase = true, columns = 0 } = {}) {
  let shown = "";
  const rows = new OutputRows({ write: (text: string) => void (shown += text), columns });
  const line = {
    canErase,
    erase(rowsAbove: number) {
      const rows = shown.split("\n");
      shown = [...rows.slice(0, rows.length - 1 - rowsAbove), ""].join("\n");
    },
    draw: () => void (shown += "> abc"),
  };
  return {
    rows,
    begin() {
      rows.lend(line);
      line.draw();
    },
    enter() {
      shown += "\n";
      rows.takeBack();
    },
    shown: () => shown,
  };
}

describe("what is shown", () => {
  test("goes out as it comes, also above the line that is being written", () => {
    const { rows, begin, enter, shown } = sheet();
    rows.write("The du");
    expect(shown()).toBe("The du");
    begin();
    rows.write("cks fly");
    expect(shown()).toBe("The du\ncks fly\n> abc");
    rows.write(" home.\nThen ");
    expect(shown()).toBe("The du\ncks fly home.\nThen \n> abc");
    rows.write("it");
    expect(shown()).toBe("The du\ncks fly home.\nThen it\n> abc");
    enter();
    rows.write(" rains.\n");
    expect(shown()).toBe("The du\ncks fly home.\nThen it\n> abc\n rains.\n");
  });

  test("is folded into rows above the line, at a blank where there is one", () => {
    const { rows, begin, shown } = sheet({ columns: 12 });
    begin();
    rows.write("The ducks fl");
    expect(shown()).toBe("The ducks \nfl\n> abc");
    rows.write("y \u001b[2mhome\u001b[0m");
    expect(shown()).toBe("The ducks \nfly \u001b[2mhome\u001b[0m\n> abc");
    rows.write("\n鴨が飛ぶandsomethingverylong");
    expect(shown()).toBe("The ducks \nfly \u001b[2mhome\u001b[0m\n鴨が飛ぶand\nsomethingve\nrylong\n> abc");
  });

  test("comes in whole lines where nothing can be taken off the screen", () => {
    const { rows, begin, enter, shown } = sheet({ canErase: false });
    rows.write("The du");
    expect(shown()).toBe("The du");
    begin();
    rows.write("cks fly");
    expect(shown()).toBe("The du\n> abc");
    rows.write(" home.\nThen ");
    expect(shown()).toBe("The du\ncks fly home.\n> abc");
    enter();
    expect(shown()).toBe("The du\ncks fly home.\n> abc\nThen ");
  });

  test("has no empty line where one was broken off at its end", () => {
    const { rows, begin, shown } = sheet();
    rows.write("done");
    begin();
    rows.write("\nnext\n");
    expect(shown()).toBe("done\nnext\n> abc");
  });

  test("is shown when nothing more comes", () => {
    const { rows, begin, shown } = sheet();
    begin();
    rows.write("the end");
    rows.flush();
    rows.flush();
    expect(shown()).toBe("the end\n> abc");
  });

  test("is all of it, in order, whenever somebody writes", () => {
    const step = fc.oneof(fc.stringMatching(/^[xyz\n]{0,4}$/), fc.constantFrom("BEGIN", "ENTER"));
    fc.assert(
      fc.property(fc.array(step), fc.boolean(), fc.constantFrom(0, 3), (steps, canErase, columns) => {
        const { rows, begin, enter, shown } = sheet({ canErase, columns });
        let isWriting = false;
        for (const text of [...steps, ...(steps.lastIndexOf("BEGIN") > steps.lastIndexOf("ENTER") ? ["ENTER"] : [])]) {
          if (text !== "BEGIN" && text !== "ENTER") rows.write(text);
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
