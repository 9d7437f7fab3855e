/** Reads Telegram's updates: finds the messages for the bot, and their senders. */
import * as v from "valibot";

const File = v.looseObject({ file_id: v.string(), file_name: v.optional(v.string()), file_size: v.optional(v.number()) });

const Message = v.looseObject({
  message_id: v.number(),
  message_thread_id: v.optional(v.number()),
  is_topic_message: v.optional(v.boolean()),
  from: v.optional(v.looseObject({ id: v.number(), is_bot: v.optional(v.boolean()) })),
  chat: v.looseObject({ id: v.number() }),
  text: v.optional(v.string()),
  caption: v.optional(v.string()),
  /** The sizes of one picture, the largest last. */
  photo: v.optional(v.array(File)),
  document: v.optional(File),
  audio: v.optional(File),
  voice: v.optional(File),
  video: v.optional(File),
});

export const Updates = v.array(v.looseObject({ update_id: v.number(), message: v.optional(v.unknown()) }));

export interface TelegramMessage {
  /** `CHAT`, or `CHAT/TOPIC` in a forum. */
  chat: string;
  from: string;
  text: string;
  files: readonly { type: "image" | "file" | "audio" | "video"; id: string; name: string; size: number | undefined }[];
}

/** Undefined for other kinds of updates, service messages, messages of bots (two would talk for ever), and another bot's commands. */
export function messageOf(update: unknown, username: string | undefined): TelegramMessage | undefined {
  const checked = v.safeParse(Message, update);
  if (!checked.success) return undefined;
  const { from, chat, message_thread_id: thread, is_topic_message: inTopic, text, caption, ...rest } = checked.output;
  if (from === undefined || from.is_bot === true) return undefined;
  const files = filesOf(rest);
  if (text === undefined && caption === undefined && files.length === 0) return undefined;
  const [, addressee] = /^\/\w+@(\w+)/.exec(text ?? caption ?? "") ?? [];
  if (addressee !== undefined && username !== undefined && addressee.toLowerCase() !== username.toLowerCase()) return undefined;
  return {
    chat: inTopic === true && thread !== undefined ? `${chat.id}/${thread}` : String(chat.id),
    from: String(from.id),
    // Every client sends /start first.
    text: text === "/start" ? "/help" : (text ?? caption ?? ""),
    files,
  };
}

/** The chat and the topic, in the form of the API. */
export function addressOf(chat: string): { chat_id: number; message_thread_id?: number } {
  const [id = "", thread] = chat.split("/");
  return { chat_id: Number(id), ...(thread !== undefined && { message_thread_id: Number(thread) }) };
}

type Files = Pick<v.InferOutput<typeof Message>, "photo" | "document" | "audio" | "voice" | "video">;

function filesOf({ photo, document, audio, voice, video }: Files): TelegramMessage["files"] {
  const largest = photo?.at(-1);
  return [
    ...(largest === undefined ? [] : [fileOf("image", largest, "photo.jpg")]),
    ...(document === undefined ? [] : [fileOf("file", document, "file")]),
    ...(audio === undefined ? [] : [fileOf("audio", audio, "audio")]),
    ...(voice === undefined ? [] : [fileOf("audio", voice, "voice.ogg")]),
    ...(video === undefined ? [] : [fileOf("video", video, "video.mp4")]),
  ];
}

function fileOf(
  type: TelegramMessage["files"][number]["type"],
  file: v.InferOutput<typeof File>,
  name: string,
): TelegramMessage["files"][number] {
  return { type, id: file.file_id, name: file.file_name ?? name, size: file.file_size };
}
