import { CountQueuingStrategy, ReadableStream, ReadableStreamDefaultReader } from "loadline:web/streams";
import { WritableStream, WritableStreamDefaultWriter } from "loadline:web/writable";

export { CountQueuingStrategy, ReadableStream, ReadableStreamDefaultReader, WritableStream, WritableStreamDefaultWriter };
export default { CountQueuingStrategy, ReadableStream, ReadableStreamDefaultReader, WritableStream, WritableStreamDefaultWriter };
