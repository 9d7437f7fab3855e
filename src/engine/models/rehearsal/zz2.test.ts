import { test } from "vitest";
import { openRehearsal } from "./index.js";
import { requestOf, user } from "./testing.js";
import { orders } from "./orders.js";
test("speed", async () => {
  const m = await openRehearsal({});
  for (const n of [1000, 1_000_000]) { const t = performance.now(); let c = 0; for await (const p of m.stream(requestOf([user(`stream ${n} pieces`)]), new AbortController().signal)) c += p.type.length; console.log(n, performance.now() - t); }
  let t = performance.now(); orders("read a.txt and write b ".repeat(800)); console.log("long", performance.now() - t);
  t = performance.now(); orders("x".repeat(200000)); console.log("long2", performance.now() - t);
  t = performance.now(); orders("lorem ipsum dolor, and sit amet. ".repeat(3000)); console.log("long3", performance.now() - t);
  t = performance.now(); orders("{".repeat(20000)+ "'".repeat(5000)); console.log("long4", performance.now() - t);
  t = performance.now(); orders(" ".repeat(20000)+"x"+"\n".repeat(20000)+"y"); console.log("long5", performance.now() - t);
  t = performance.now(); orders("write 'hello' to a.txt then run `ls`"); console.log("short", performance.now() - t);
  t = performance.now(); orders("a ".repeat(10000)); console.log("long6", performance.now() - t);
  t = performance.now(); orders("write to a.txt: " + "and read b, ".repeat(1600)); console.log("long7", performance.now() - t);
});
