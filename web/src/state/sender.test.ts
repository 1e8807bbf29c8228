import { expect, test } from "vitest";
import { Sender } from "./sender";

function recorder(fails: (batch: number[]) => boolean = () => false) {
  const sent: number[][] = [];
  const release: (() => void)[] = [];
  let settled = 0;
  const sender = new Sender<number>(
    async (batch) => {
      sent.push(batch);
      await new Promise<void>((resolve) => release.push(resolve));
      if (fails(batch)) throw new Error("refused");
    },
    (waiting) => {
      const alone = waiting.findIndex((each) => each < 0);
      return alone < 0 ? waiting.length : Math.max(1, alone);
    },
    () => settled++,
  );
  const answer = async () => {
    release.shift()?.();
    await new Promise((resolve) => setTimeout(resolve));
  };
  return { sender, sent, answer, settled: () => settled };
}

test("what comes meanwhile goes together, in order", async () => {
  const { sender, sent, answer, settled } = recorder();
  [1, 2, 3].forEach((each) => sender.put(each));
  expect(sent).toEqual([[1]]);
  await answer();
  expect(sent).toEqual([[1], [2, 3]]);
  expect(settled()).toBe(0);
  await answer();
  expect(settled()).toBe(1);
  expect(sender.isBusy).toBe(false);
});

test("what can't go with others goes alone", async () => {
  const { sender, sent, answer } = recorder();
  [1, 2, -3, 4, 5].forEach((each) => sender.put(each));
  for (let round = 0; round < 4; round++) await answer();
  expect(sent).toEqual([[1], [2], [-3], [4, 5]]);
});

test("a refusal loses nothing that follows", async () => {
  const { sender, sent, answer, settled } = recorder((batch) => batch[0] === 1);
  [1, 2].forEach((each) => sender.put(each));
  await answer();
  await answer();
  expect(sent).toEqual([[1], [2]]);
  expect(settled()).toBe(1);
});
