<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
    <context>
        <name>lathe::ui::ReaderBar</name>
        <message>
            <source>Open the project for writing, so that it can be tuned on here</source>
            <translation>以可写方式打开项目，以便在此继续调优</translation>
        </message>
        <message>
            <source>Available once %1 has ended</source>
            <translation>%1 结束后可用</translation>
        </message>
        <message>
            <source>Read-only: the program that wrote to this project has ended.</source>
            <translation>只读：写入此项目的程序已结束。</translation>
        </message>
        <message>
            <source>Read-only: %1 is writing to this project. What it adds is shown here.</source>
            <translation>只读：%1 正在写入此项目。它增加的内容会显示在这里。</translation>
        </message>
        <message>
            <source>Take over</source>
            <translation>接管</translation>
        </message>
        <message>
            <source>Reader</source>
            <translation>读取者</translation>
        </message>
    </context>
    <context>
        <name>Actions</name>
        <message>
            <source>Open &amp;project…</source>
            <translation>打开项目(&amp;P)…</translation>
        </message>
        <message>
            <source>&amp;Start page</source>
            <translation>起始页(&amp;S)</translation>
        </message>
        <message>
            <source>&amp;Quit</source>
            <translation>退出(&amp;Q)</translation>
        </message>
        <message>
            <source>&amp;Back</source>
            <translation>后退(&amp;B)</translation>
        </message>
        <message>
            <source>&amp;Forward</source>
            <translation>前进(&amp;F)</translation>
        </message>
        <message>
            <source>&amp;Find…</source>
            <translation>查找(&amp;F)…</translation>
        </message>
        <message>
            <source>&amp;Next node found</source>
            <translation>下一个匹配节点(&amp;N)</translation>
        </message>
        <message>
            <source>&amp;Previous node found</source>
            <translation>上一个匹配节点(&amp;P)</translation>
        </message>
        <message>
            <source>&amp;Unfold all groups</source>
            <translation>展开所有分组(&amp;U)</translation>
        </message>
        <message>
            <source>Save the network's pi&amp;cture…</source>
            <translation>保存网络图片(&amp;C)…</translation>
        </message>
        <message>
            <source>Zoom &amp;in</source>
            <translation>放大(&amp;I)</translation>
        </message>
        <message>
            <source>Zoom &amp;out</source>
            <translation>缩小(&amp;O)</translation>
        </message>
        <message>
            <source>Zoom to &amp;fit</source>
            <translation>适合窗口(&amp;F)</translation>
        </message>
        <message>
            <source>&amp;Settings…</source>
            <translation>设置(&amp;S)…</translation>
        </message>
        <message>
            <source>Open the &amp;latest again</source>
            <translation>重新打开最近的项目(&amp;L)</translation>
        </message>
        <message>
            <source>Copy command line: &amp;resume</source>
            <translation>复制命令行：继续调优(&amp;R)</translation>
        </message>
        <message>
            <source>Copy command line: &amp;export</source>
            <translation>复制命令行：导出(&amp;E)</translation>
        </message>
        <message>
            <source>Restore &amp;default layout</source>
            <translation>恢复默认布局(&amp;D)</translation>
        </message>
        <message>
            <source>&amp;Save layout…</source>
            <translation>保存布局(&amp;S)…</translation>
        </message>
        <message>
            <source>&amp;About Lathe</source>
            <translation>关于 Lathe(&amp;A)</translation>
        </message>
        <message>
            <source>About &amp;Qt</source>
            <translation>关于 Qt(&amp;Q)</translation>
        </message>
        <message>
            <source>&amp;Manual</source>
            <translation>手册(&amp;M)</translation>
        </message>
        <message>
            <source>&amp;Keys</source>
            <translation>快捷键(&amp;K)</translation>
        </message>
        <message>
            <source>&amp;Copy</source>
            <translation>复制(&amp;C)</translation>
        </message>
        <message>
            <source>Sa&amp;ve this view…</source>
            <translation>保存此视图(&amp;V)…</translation>
        </message>
        <message>
            <source>Ne&amp;xt pane</source>
            <translation>下一个窗格(&amp;X)</translation>
        </message>
        <message>
            <source>Pre&amp;vious pane</source>
            <translation>上一个窗格(&amp;V)</translation>
        </message>
        <message>
            <source>Co&amp;mmands…</source>
            <translation>命令面板(&amp;M)…</translation>
        </message>
        <message>
            <source>Copy command line: list the tas&amp;ks</source>
            <translation>复制命令行：列出任务(&amp;K)</translation>
        </message>
        <message>
            <source>Copy command line: st&amp;art</source>
            <translation>复制命令行：开始调优(&amp;A)</translation>
        </message>
        <message>
            <source>Fold all group&amp;s</source>
            <translation>折叠所有分组(&amp;S)</translation>
        </message>
        <message>
            <source>Full scr&amp;een</source>
            <translation>全屏(&amp;E)</translation>
        </message>
        <message>
            <source>Copy command line: &amp;check an export</source>
            <translation>复制命令行：检查导出(&amp;C)</translation>
        </message>
        <message>
            <source>Copy command line: co&amp;mpare</source>
            <translation>复制命令行：比较(&amp;M)</translation>
        </message>
        <message>
            <source>&amp;Undo</source>
            <translation>撤销(&amp;U)</translation>
        </message>
        <message>
            <source>&amp;Redo</source>
            <translation>重做(&amp;R)</translation>
        </message>
        <message>
            <source>N&amp;ote on the selected trial</source>
            <translation>所选试验的备注(&amp;O)</translation>
        </message>
        <message>
            <source>Note on the pro&amp;ject…</source>
            <translation>项目备注(&amp;J)…</translation>
        </message>
        <message>
            <source>Measure the selected tr&amp;ials again</source>
            <translation>重新测量所选试验(&amp;I)</translation>
        </message>
        <message>
            <source>Repor&amp;t…</source>
            <translation>报告(&amp;T)…</translation>
        </message>
        <message>
            <source>Copy command line: rep&amp;ort</source>
            <translation>复制命令行：报告(&amp;O)</translation>
        </message>
        <message>
            <source>Copy command line: list the recor&amp;ds</source>
            <translation>复制命令行：列出记录(&amp;D)</translation>
        </message>
        <message>
            <source>Copy command &amp;line: replay</source>
            <translation>复制命令行：回放(&amp;L)</translation>
        </message>
        <message>
            <source>Repla&amp;y the latest run</source>
            <translation>回放最近一次运行(&amp;Y)</translation>
        </message>
        <message>
            <source>Replay a run of a pro&amp;ject…</source>
            <translation>回放项目中的一次运行(&amp;J)…</translation>
        </message>
        <message>
            <source>&amp;Import tuning logs…</source>
            <translation>导入调优日志(&amp;I)…</translation>
        </message>
        <message>
            <source>Copy command line: import lo&amp;gs</source>
            <translation>复制命令行：导入日志(&amp;G)</translation>
        </message>
        <message>
            <source>Input si&amp;zes…</source>
            <translation>输入尺寸(&amp;Z)…</translation>
        </message>
        <message>
            <source>&amp;Weights…</source>
            <translation>权重(&amp;W)…</translation>
        </message>
        <message>
            <source>Connect to a &amp;farm</source>
            <translation>连接设备群(&amp;F)</translation>
        </message>
        <message>
            <source>&amp;Add a device to the farm…</source>
            <translation>向设备群添加设备(&amp;A)…</translation>
        </message>
        <message>
            <source>Run opt&amp;ions…</source>
            <translation>运行选项(&amp;I)…</translation>
        </message>
        <message>
            <source>La&amp;youts of tensors</source>
            <translation>张量的布局(&amp;Y)</translation>
        </message>
    </context>
    <context>
        <name>Appearance</name>
        <message>
            <source>Same as the system</source>
            <translation>跟随系统</translation>
        </message>
        <message>
            <source>Light</source>
            <translation>浅色</translation>
        </message>
        <message>
            <source>Dark</source>
            <translation>深色</translation>
        </message>
    </context>
    <context>
        <name>Compared</name>
        <message>
            <source>now</source>
            <translation>当前</translation>
        </message>
        <message>
            <source>, model %1</source>
            <translation>，模型 %1</translation>
        </message>
        <message>
            <source>, run %1</source>
            <translation>，运行 %1</translation>
        </message>
        <message>
            <source>, on %1</source>
            <translation>，设备 %1</translation>
        </message>
        <message>
            <source>, until %1</source>
            <translation>，截至 %1</translation>
        </message>
    </context>
    <context>
        <name>Conditions</name>
        <message>
            <source>network</source>
            <translation>网络</translation>
        </message>
        <message>
            <source>contents of the model</source>
            <translation>模型内容</translation>
        </message>
        <message>
            <source>target</source>
            <translation>目标</translation>
        </message>
        <message>
            <source>device</source>
            <translation>设备</translation>
        </message>
        <message>
            <source>caches</source>
            <translation>缓存</translation>
        </message>
        <message>
            <source>threads</source>
            <translation>线程数</translation>
        </message>
        <message>
            <source>clock</source>
            <translation>时钟</translation>
        </message>
        <message>
            <source>build of Lathe</source>
            <translation>Lathe 构建版本</translation>
        </message>
        <message>
            <source>task scheduler</source>
            <translation>任务调度器</translation>
        </message>
        <message>
            <source>search policy</source>
            <translation>搜索策略</translation>
        </message>
        <message>
            <source>strict</source>
            <translation>严格</translation>
        </message>
        <message>
            <source>seed</source>
            <translation>种子</translation>
        </message>
        <message>
            <source>repeats</source>
            <translation>重复次数</translation>
        </message>
        <message>
            <source>runs per repeat</source>
            <translation>每次重复的运行次数</translation>
        </message>
        <message>
            <source>minimum time of a repeat (ms)</source>
            <translation>每次重复的最短时间（毫秒）</translation>
        </message>
        <message>
            <source>pause between repeats (ms)</source>
            <translation>重复之间的间歇（毫秒）</translation>
        </message>
        <message>
            <source>runoffs</source>
            <translation>加赛</translation>
        </message>
        <message>
            <source>head start</source>
            <translation>热启动</translation>
        </message>
    </context>
    <context>
        <name>Core</name>
        <message>
            <source>{text}</source>
            <translation>{text}</translation>
        </message>
        <message>
            <source>{outer}: {inner}</source>
            <translation>{outer}：{inner}</translation>
        </message>
        <message>
            <source>, </source>
            <translation>、</translation>
        </message>
        <message>
            <source>; </source>
            <translation>；</translation>
        </message>
        <message>
            <source>{file} is too large: {bytes} bytes, at most {most} are allowed</source>
            <translation>{file} 过大：{bytes} 字节，最多允许 {most} 字节</translation>
        </message>
        <message>
            <source>cannot read {file}: {reason}</source>
            <translation>无法读取 {file}：{reason}</translation>
        </message>
        <message>
            <source>cannot find a folder for temporary files: {reason}</source>
            <translation>没有可放临时文件的文件夹：{reason}</translation>
        </message>
        <message>
            <source>cannot create a folder in {file}: {reason}</source>
            <translation>无法在 {file} 中创建文件夹：{reason}</translation>
        </message>
        <message>
            <source>cannot {doing} {file}: {reason}</source>
            <translation>无法{doing} {file}：{reason}</translation>
        </message>
        <message>
            <source>create a file beside</source>
            <translation>创建文件于</translation>
        </message>
        <message>
            <source>write</source>
            <translation>写入</translation>
        </message>
        <message>
            <source>rename</source>
            <translation>重命名</translation>
        </message>
        <message>
            <source>sync</source>
            <translation>同步</translation>
        </message>
        <message>
            <source>close</source>
            <translation>关闭</translation>
        </message>
        <message>
            <source>replace</source>
            <translation>替换</translation>
        </message>
        <message>
            <source>cannot keep a folder in {file}: another program removes it</source>
            <translation>无法在 {file} 中保留文件夹：它被别的程序删除</translation>
        </message>
        <message>
            <source>cannot find the program {program}: it is neither {here} nor {there}</source>
            <translation>找不到程序 {program}：{here} 和 {there} 都没有</translation>
        </message>
        <message>
            <source>{file} was truncated while it was open</source>
            <translation>{file} 在打开期间被截断</translation>
        </message>
        <message>
            <source>{file} was changed while it was open: open it again</source>
            <translation>{file} 在打开期间被改动：请重新打开</translation>
        </message>
        <message>
            <source>cannot map {file}: {reason}</source>
            <translation>无法映射 {file}：{reason}</translation>
        </message>
        <message>
            <source>cannot open {file}: {reason}</source>
            <translation>无法打开 {file}：{reason}</translation>
        </message>
        <message>
            <source>{file} is not a regular file</source>
            <translation>{file} 不是普通文件</translation>
        </message>
        <message>
            <source>cannot start {program}: {reason}{package:-}</source>
            <translation>无法启动 {program}：{reason}</translation>
        </message>
        <message>
            <source>{program} was stopped</source>
            <translation>{program} 已被停止</translation>
        </message>
        <message>
            <source>{program} timed out and was killed</source>
            <translation>{program} 超时，已被终止</translation>
        </message>
        <message>
            <source>signal {signal} (SIG{name}, {meaning})</source>
            <translation>信号 {signal}（SIG{name}，{meaning}）</translation>
        </message>
        <message>
            <source>exit status {status}</source>
            <translation>退出状态 {status}</translation>
        </message>
        <message>
            <source>segmentation fault</source>
            <translation>段错误</translation>
        </message>
        <message>
            <source>aborted</source>
            <translation>异常中止</translation>
        </message>
        <message>
            <source>killed</source>
            <translation>被杀死</translation>
        </message>
        <message>
            <source>illegal instruction</source>
            <translation>非法指令</translation>
        </message>
        <message>
            <source>floating point exception</source>
            <translation>算术异常</translation>
        </message>
        <message>
            <source>bus error</source>
            <translation>总线错误</translation>
        </message>
        <message>
            <source>terminated</source>
            <translation>被终止</translation>
        </message>
        <message>
            <source>cpu time limit exceeded</source>
            <translation>超出 CPU 时间上限</translation>
        </message>
        <message>
            <source>building</source>
            <translation>构建</translation>
        </message>
        <message>
            <source>generating code</source>
            <translation>生成代码</translation>
        </message>
        <message>
            <source>loading the artifact</source>
            <translation>加载程序</translation>
        </message>
        <message>
            <source>compiling on the device</source>
            <translation>在设备上编译</translation>
        </message>
        <message>
            <source>running the kernel</source>
            <translation>运行内核</translation>
        </message>
        <message>
            <source>checking the outputs</source>
            <translation>检查输出</translation>
        </message>
        <message>
            <source>timing the kernel</source>
            <translation>给内核计时</translation>
        </message>
        <message>
            <source>the kernel crashed while {what}: {cause}</source>
            <translation>内核崩溃（{what}时）：{cause}</translation>
        </message>
        <message>
            <source>the device&apos;s compiler crashed: {cause}</source>
            <translation>设备的编译器崩溃：{cause}</translation>
        </message>
        <message>
            <source>{devices:device|devices} in turn were lost while they had this candidate; the last one: {cause}</source>
            <translation>先后有 {devices} 台设备在处理此候选时失联；最后一台：{cause}</translation>
        </message>
        <message>
            <source>the other side has acknowledged nothing for {seconds:g} s</source>
            <translation>对方已有 {seconds:g} 秒未确认任何内容</translation>
        </message>
        <message>
            <source>the broker at {url} cannot be reached: {reason}</source>
            <translation>无法连接位于 {url} 的代理服务器：{reason}</translation>
        </message>
        <message>
            <source>no answer in time</source>
            <translation>未及时应答</translation>
        </message>
        <message>
            <source>cannot wait for messages: {reason}</source>
            <translation>无法等待消息：{reason}</translation>
        </message>
        <message>
            <source>the other side sent a message that is longer than messages may be</source>
            <translation>对方发送的消息超过了消息的最大长度</translation>
        </message>
        <message>
            <source>a message of {bytes} bytes cannot be read</source>
            <translation>无法读取一条 {bytes} 字节的消息</translation>
        </message>
        <message>
            <source>the broker does not send what is under {subject}: {reason}</source>
            <translation>代理服务器不发送 {subject} 下的消息：{reason}</translation>
        </message>
        <message>
            <source>a pair of Ed25519 keys cannot be made</source>
            <translation>无法生成 Ed25519 密钥对</translation>
        </message>
        <message>
            <source>the secret must be a user&apos;s seed: SU and 56 more letters</source>
            <translation>该密钥不是用户种子：种子为 SU 加 56 个字母</translation>
        </message>
        <message>
            <source>a broker at {host} is reached by other machines, and needs TLS</source>
            <translation>位于 {host} 的代理服务器可被其他机器访问，需要 TLS</translation>
        </message>
        <message>
            <source>a broker at {host} is reached by other machines, and lets nobody in without a key</source>
            <translation>位于 {host} 的代理服务器可被其他机器访问，没有密钥者不得进入</translation>
        </message>
        <message>
            <source>a broker cannot have the name &quot;{name}&quot;: it may have letters, digits, - and _, 64 at most</source>
            <translation>代理服务器不能使用名称“{name}”：只能包含字母、数字、- 和 _，最多 64 个</translation>
        </message>
        <message>
            <source>the public key of &quot;{name}&quot; is not valid, or is another member&apos;s</source>
            <translation>“{name}”的公钥无效，或属于他人</translation>
        </message>
        <message>
            <source>the device was given back</source>
            <translation>设备已归还</translation>
        </message>
        <message>
            <source>the offer was not taken in time</source>
            <translation>未及时接受设备</translation>
        </message>
        <message>
            <source>the device heard nothing of the one who had it</source>
            <translation>设备未收到占用者的任何消息</translation>
        </message>
        <message>
            <source>it is another user&apos;s turn on the device</source>
            <translation>轮到另一位用户使用该设备</translation>
        </message>
        <message>
            <source>the device is being drained</source>
            <translation>设备正在停用</translation>
        </message>
        <message>
            <source>the device is sick</source>
            <translation>设备状态异常</translation>
        </message>
        <message>
            <source>{device} did not answer in time</source>
            <translation>{device} 未及时应答</translation>
        </message>
        <message>
            <source>the code generator crashed while {what}: {cause}</source>
            <translation>代码生成器崩溃（{what}时）：{cause}</translation>
        </message>
        <message>
            <source>the run took longer than {seconds:g} s while {what}</source>
            <translation>运行超过 {seconds:g} 秒（{what}时）</translation>
        </message>
        <message>
            <source>the build took longer than {seconds:g} s while {what}</source>
            <translation>构建超过 {seconds:g} 秒（{what}时）</translation>
        </message>
        <message>
            <source>the device&apos;s compiler did not finish within {seconds:g} s</source>
            <translation>设备的编译器未在 {seconds:g} 秒内完成</translation>
        </message>
        <message>
            <source>output &quot;{output}&quot; is {value} at {place} instead of {expected}: relative error {error:.3g}, allowed {allowed:.3g}</source>
            <translation>输出“{output}”在 {place} 处为 {value}，应为 {expected}：相对误差 {error:.3g}，允许 {allowed:.3g}</translation>
        </message>
        <message>
            <source>no device is open</source>
            <translation>没有打开的设备</translation>
        </message>
        <message>
            <source>the device failed {doing} without a reason</source>
            <translation>设备失败（{doing}），没有给出原因</translation>
        </message>
        <message>
            <source>cannot load {file}: {reason}{package:-}</source>
            <translation>{file} 无法加载：{reason}</translation>
        </message>
        <message>
            <source>{words}{package:-}</source>
            <translation>{words}</translation>
        </message>
        <message>
            <source>{file} is not a device plugin: it does not export lathe_device_api</source>
            <translation>{file} 不是设备插件：其中没有导出 lathe_device_api</translation>
        </message>
        <message>
            <source>{file} uses version {there} of the device interface, this program version {here}</source>
            <translation>{file} 使用第 {there} 版设备接口，本程序使用第 {here} 版</translation>
        </message>
        <message>
            <source>there is no device plugin of kind &quot;{kind}&quot; in {file}</source>
            <translation>{file} 中没有“{kind}”类设备的插件</translation>
        </message>
        <message>
            <source>{file} is of kind &quot;{kind}&quot;</source>
            <translation>{file} 属于“{kind}”类</translation>
        </message>
        <message>
            <source>this machine has no {kind} device</source>
            <translation>本机没有 {kind} 设备</translation>
        </message>
        <message>
            <source>this machine has no {kind} device &quot;{device}&quot;</source>
            <translation>本机没有名为“{device}”的 {kind} 设备</translation>
        </message>
        <message>
            <source>there is no code generator for targets of kind &quot;{kind}&quot;: {file} is missing</source>
            <translation>没有“{kind}”类目标的代码生成器：缺少 {file}</translation>
        </message>
        <message>
            <source>{file} is not a code generator of Lathe</source>
            <translation>{file} 不是 Lathe 的代码生成器</translation>
        </message>
        <message>
            <source>{file} belongs to build {there}, this program to build {here}</source>
            <translation>{file} 的构建标识是 {there}，本程序是 {here}</translation>
        </message>
        <message>
            <source>{file} generates code for &quot;{kind}&quot;</source>
            <translation>{file} 为“{kind}”生成代码</translation>
        </message>
        <message>
            <source>the fault script makes this build fail</source>
            <translation>故障脚本让这次构建失败</translation>
        </message>
        <message>
            <source>{file} is not such a plugin: it does not export {entry}</source>
            <translation>{file} 不是这种插件：其中没有导出 {entry}</translation>
        </message>
        <message>
            <source>there is no device &quot;{device}&quot; for target {target}; available: {devices}</source>
            <translation>目标 {target} 没有名为“{device}”的设备；可用的有 {devices}</translation>
        </message>
        <message>
            <source>latencies on {device} ({key}) and {other} ({otherKey}) cannot be compared: all devices of a run must be of the same kind</source>
            <translation>{device}（{key}）与 {other}（{otherKey}）上的延迟不能比较：一次运行的所有设备必须相同</translation>
        </message>
        <message>
            <source>measuring was stopped</source>
            <translation>测量已停止</translation>
        </message>
        <message>
            <source>unexpected answer from the worker</source>
            <translation>工作进程的应答与请求不符</translation>
        </message>
        <message>
            <source>the builder returned a wrong number of candidates</source>
            <translation>构建进程返回的候选程序数量不对</translation>
        </message>
        <message>
            <source>the builder did not send what it built</source>
            <translation>构建进程没有送来构建结果</translation>
        </message>
        <message>
            <source>the build was stopped</source>
            <translation>构建已停止</translation>
        </message>
        <message>
            <source>the code generator timed out and was killed</source>
            <translation>代码生成器超时，已被终止</translation>
        </message>
        <message>
            <source>unexpected answer from the builder</source>
            <translation>构建进程的应答与请求不符</translation>
        </message>
        <message>
            <source>the builder returned a wrong number of kernels</source>
            <translation>构建进程返回的内核数量不对</translation>
        </message>
        <message>
            <source>code for {machine} cannot be measured on this machine ({here}), and remote boards are not supported yet; a library for it can be exported with default schedules</source>
            <translation>面向 {machine} 的代码无法在本机（{here}）上测量，目前也不支持远程开发板；可以用默认调度导出它的库</translation>
        </message>
        <message>
            <source>there is no such device</source>
            <translation>没有这个设备</translation>
        </message>
        <message>
            <source>unexpected answer from the runner</source>
            <translation>运行进程的应答与请求不符</translation>
        </message>
        <message>
            <source>the worker did not answer the handshake</source>
            <translation>工作进程没有应答握手</translation>
        </message>
        <message>
            <source>{program} is version {there}, this program {here}</source>
            <translation>{program} 的版本是 {there}，本程序是 {here}</translation>
        </message>
        <message>
            <source>{program} belongs to build {there}, this program to build {here}</source>
            <translation>{program} 的构建标识是 {there}，本程序是 {here}</translation>
        </message>
        <message>
            <source>{program} ended with {cause}</source>
            <translation>{program} 已结束：{cause}</translation>
        </message>
        <message>
            <source>the emitted code is malformed: {reason}</source>
            <translation>生成的代码有错：{reason}</translation>
        </message>
        <message>
            <source>LLVM cannot select instructions for &apos;{triple}&apos;</source>
            <translation>LLVM 无法为“{triple}”选择指令</translation>
        </message>
        <message>
            <source>LLVM does not know the triple &apos;{triple}&apos;</source>
            <translation>LLVM 不认识三元组“{triple}”</translation>
        </message>
        <message>
            <source>&apos;{processor}&apos; is not a processor that LLVM knows for {triple}</source>
            <translation>LLVM 不认识 {triple} 的处理器“{processor}”</translation>
        </message>
        <message>
            <source>LLVM has no code generator for &apos;{triple}&apos;</source>
            <translation>LLVM 没有“{triple}”的代码生成器</translation>
        </message>
        <message>
            <source>kernel &apos;{kernel}&apos;: {reason}</source>
            <translation>内核“{kernel}”：{reason}</translation>
        </message>
        <message>
            <source>the linker wrote no output</source>
            <translation>链接器没有写出结果</translation>
        </message>
        <message>
            <source>linking failed: {reason}</source>
            <translation>链接失败：{reason}</translation>
        </message>
        <message>
            <source>the linker failed earlier and cannot run again in this process</source>
            <translation>链接器先前失败过，不能在此进程中再次运行</translation>
        </message>
        <message>
            <source>the simulator has no compiler; its only listing is the source, the loop nest</source>
            <translation>模拟器没有编译器：它唯一的清单是源代码，即循环嵌套</translation>
        </message>
        <message>
            <source>the simulator cannot generate code for deploy libraries</source>
            <translation>模拟器不能为部署库生成代码</translation>
        </message>
        <message>
            <source>a tile of {sums} accumulators and {operands} operands does not fit into {most} registers{limit:-}</source>
            <translation>{sums} 个累加值和 {operands} 个操作数的分块放不进 {most} 个寄存器</translation>
        </message>
        <message>
            <source>a tile of the product does not fit into the registers{limit:-}</source>
            <translation>乘积的分块放不进寄存器</translation>
        </message>
        <message>
            <source>{threads} threads exceed the limit of {most} per block{limit:-}</source>
            <translation>{threads} 个线程超过每块 {most} 个的上限</translation>
        </message>
        <message>
            <source>{threads:thread does|threads do} not fill a warp of {size}{limit:-}</source>
            <translation>{threads} 个线程填不满 {size} 个线程的线程束</translation>
        </message>
        <message>
            <source>{threads} virtual threads exceed the limit of {most}{limit:-}</source>
            <translation>{threads} 个虚拟线程超过 {most} 个的上限</translation>
        </message>
        <message>
            <source>task {task} cannot be scheduled: {reason}</source>
            <translation>任务 {task} 无法调度：{reason}</translation>
        </message>
        <message>
            <source>&apos;{name}&apos; has several outputs</source>
            <translation>“{name}”有多个输出</translation>
        </message>
        <message>
            <source>&apos;{name}&apos; has an empty dimension</source>
            <translation>“{name}”有长度为零的维</translation>
        </message>
        <message>
            <source>it has no alternative</source>
            <translation>它没有任何算法</translation>
        </message>
        <message>
            <source>the search was stopped</source>
            <translation>搜索已停止</translation>
        </message>
        <message>
            <source>the schedule has open tile sizes</source>
            <translation>调度中还有未定的分块大小</translation>
        </message>
        <message>
            <source>&apos;{name}&apos; has a loop of {count} iterations</source>
            <translation>“{name}”有一个 {count} 次迭代的循环</translation>
        </message>
        <message>
            <source>&apos;{name}&apos; has more than 2^40 iterations</source>
            <translation>“{name}”的迭代次数超过 2^40</translation>
        </message>
        <message>
            <source>&apos;{name}&apos; has no elements or more than 2^40 in memory</source>
            <translation>“{name}”在内存中没有元素，或多于 2^40 个</translation>
        </message>
        <message>
            <source>&apos;{name}&apos; has a parallel loop inside a parallel loop</source>
            <translation>“{name}”的并行循环里还有并行循环</translation>
        </message>
        <message>
            <source>&apos;{name}&apos; has a parallel loop that is not outermost</source>
            <translation>“{name}”的并行循环不在最外层</translation>
        </message>
        <message>
            <source>the model uses unsupported features: {problems}</source>
            <translation>模型使用了不支持的功能：{problems}</translation>
        </message>
        <message>
            <source>{what} (node {nodes})</source>
            <translation>{what}（节点 {nodes}）</translation>
        </message>
        <message>
            <source>{what} (nodes {nodes})</source>
            <translation>{what}（节点 {nodes}）</translation>
        </message>
        <message>
            <source>{what} (nodes {nodes} and {more} more)</source>
            <translation>{what}（节点 {nodes} 及另外 {more} 个）</translation>
        </message>
        <message>
            <source>operator {operator} of the domain {domain}</source>
            <translation>域 {domain} 的算子 {operator}</translation>
        </message>
        <message>
            <source>a function has no name</source>
            <translation>有一个函数没有名称</translation>
        </message>
        <message>
            <source>the function {name} is defined twice</source>
            <translation>函数 {name} 被定义了两次</translation>
        </message>
        <message>
            <source>the function {name} calls itself</source>
            <translation>函数 {name} 调用了自身</translation>
        </message>
        <message>
            <source>the function {name} is called more than {most} calls deep</source>
            <translation>函数 {name} 的调用嵌套超过 {most} 层</translation>
        </message>
        <message>
            <source>the function {name} has {inputs} inputs and {outputs} outputs; the call has {givenInputs} and {givenOutputs}</source>
            <translation>函数 {name} 有 {inputs} 个输入和 {outputs} 个输出；调用处有 {givenInputs} 个和 {givenOutputs} 个</translation>
        </message>
        <message>
            <source>with all function calls inlined, the model would be far larger than the file</source>
            <translation>展开所有函数调用后，模型会远大于文件本身</translation>
        </message>
        <message>
            <source>an attribute default of the function {name} cannot be read</source>
            <translation>函数 {name} 的某个属性默认值无法读取</translation>
        </message>
        <message>
            <source>attribute {attribute} of the function {name} is used with another type</source>
            <translation>函数 {name} 的属性 {attribute} 在使用处是另一种类型</translation>
        </message>
        <message>
            <source>node &quot;{nodes}&quot; ({operator}): the function does not compute its output &quot;{value}&quot;</source>
            <translation>节点“{nodes}”（{operator}）：该函数没有计算其输出“{value}”</translation>
        </message>
        <message>
            <source>the scale must have one value for each block of {block} entries along the axis</source>
            <translation>比例必须沿该轴每 {block} 个元素的块有一个值</translation>
        </message>
        <message>
            <source>a mask of shape {shape}</source>
            <translation>形状为 {shape} 的掩码</translation>
        </message>
        <message>
            <source>input {number} ({name})</source>
            <translation>输入 {number}（{name}）</translation>
        </message>
        <message>
            <source>queries, keys and values packed into one tensor</source>
            <translation>打包在一个张量中的查询、键和值</translation>
        </message>
        <message>
            <source>the inverse of matrices of {rows} rows (at most {most})</source>
            <translation>{rows} 行矩阵的逆（最多 {most} 行）</translation>
        </message>
        <message>
            <source>{input} has the shape {shape}, but must have {wanted}</source>
            <translation>{input} 的形状为 {shape}，但必须为 {wanted}</translation>
        </message>
        <message>
            <source>each part needs a tensor, a scale and a zero point</source>
            <translation>每一部分都需要一个张量、一个比例和一个零点</translation>
        </message>
        <message>
            <source>operator {operator}</source>
            <translation>算子 {operator}</translation>
        </message>
        <message>
            <source>{what} of {operator}</source>
            <translation>{operator} 的{what}</translation>
        </message>
        <message>
            <source>output {number}</source>
            <translation>第 {number} 个输出</translation>
        </message>
        <message>
            <source>attribute {attribute}</source>
            <translation>属性 {attribute}</translation>
        </message>
        <message>
            <source>attribute {attribute} &quot;{value}&quot;</source>
            <translation>属性 {attribute}“{value}”</translation>
        </message>
        <message>
            <source>the element type {type}</source>
            <translation>元素类型 {type}</translation>
        </message>
        <message>
            <source>{what} that depends on the network&apos;s inputs</source>
            <translation>取决于网络输入的 {what}</translation>
        </message>
        <message>
            <source>node &quot;{nodes}&quot; ({operator})</source>
            <translation>节点“{nodes}”（{operator}）</translation>
        </message>
        <message>
            <source>the value &quot;{value}&quot; is defined twice, the second time by node &quot;{nodes}&quot;</source>
            <translation>值“{value}”被定义了两次，第二次在节点“{nodes}”</translation>
        </message>
        <message>
            <source>node &quot;{nodes}&quot; reads the value &quot;{value}&quot;, which nothing produces</source>
            <translation>节点“{nodes}”读取的值“{value}”没有任何节点产生</translation>
        </message>
        <message>
            <source>the graph has a cycle through node &quot;{nodes}&quot;</source>
            <translation>计算图中有经过节点“{nodes}”的环</translation>
        </message>
        <message>
            <source>an initializer has no name</source>
            <translation>有一个初始值没有名字</translation>
        </message>
        <message>
            <source>the model has no input &quot;{input}&quot; to set a shape for</source>
            <translation>模型没有可以设定形状的输入“{input}”</translation>
        </message>
        <message>
            <source>an input has no name</source>
            <translation>有一个输入没有名字</translation>
        </message>
        <message>
            <source>input &quot;{input}&quot; is not a tensor</source>
            <translation>输入“{input}”不是张量</translation>
        </message>
        <message>
            <source>input &quot;{input}&quot; has the element type {type}</source>
            <translation>输入“{input}”的元素类型是 {type}</translation>
        </message>
        <message>
            <source>input &quot;{input}&quot; has no shape: set one with --shape</source>
            <translation>输入“{input}”没有形状：请设定它的形状（--shape）</translation>
        </message>
        <message>
            <source>dimension {dimension} of input &quot;{input}&quot; is fixed at {fixed} in the model: it cannot be {wanted}</source>
            <translation>输入“{input}”的第 {dimension} 维在模型中固定为 {fixed}：不能设为 {wanted}</translation>
        </message>
        <message>
            <source>the batch is fixed at {fixed} in the model (input &quot;{input}&quot;): it cannot be {wanted}</source>
            <translation>模型中批量固定为 {fixed}（输入“{input}”）：不能设为 {wanted}</translation>
        </message>
        <message>
            <source>the output &quot;{output}&quot; is not computed</source>
            <translation>输出“{output}”没有被计算</translation>
        </message>
        <message>
            <source>node &quot;{nodes}&quot; ({operator}) has a tensor without elements</source>
            <translation>节点“{nodes}”（{operator}）含有没有元素的张量</translation>
        </message>
        <message>
            <source>the model has no outputs</source>
            <translation>模型没有输出</translation>
        </message>
        <message>
            <source>the model does not say which ONNX opset it uses</source>
            <translation>模型没有说明使用哪一版 ONNX 算子集</translation>
        </message>
        <message>
            <source>the model uses ONNX opset {opset}; the oldest supported is {oldest}</source>
            <translation>模型使用 ONNX 算子集 {opset}；支持的最旧版本是 {oldest}</translation>
        </message>
        <message>
            <source>the model uses ONNX opset {opset}; its operators are read as opset {newest} defines them</source>
            <translation>模型使用 ONNX 算子集 {opset}；其算子按算子集 {newest} 的定义读取</translation>
        </message>
        <message>
            <source>the batch of input &quot;{input}&quot; is open and was set to 1</source>
            <translation>输入“{input}”的批量未定，已设为 1</translation>
        </message>
        <message>
            <source>the file is empty</source>
            <translation>文件是空的</translation>
        </message>
        <message>
            <source>the file is larger than 2 GiB: keep the weights in external files</source>
            <translation>文件大于 2 GiB：请把权重存到外部文件</translation>
        </message>
        <message>
            <source>the batch must be at least 1, not {batch}</source>
            <translation>批量至少为 1，而不是 {batch}</translation>
        </message>
        <message>
            <source>not a valid ONNX file: it does not contain a model</source>
            <translation>不是有效的 ONNX 文件：其中没有模型</translation>
        </message>
        <message>
            <source>the model does not fit into memory</source>
            <translation>内存放不下这个模型</translation>
        </message>
        <message>
            <source>reading the model failed: {reason}</source>
            <translation>读取模型失败：{reason}</translation>
        </message>
        <message>
            <source>input {number} is missing</source>
            <translation>缺少第 {number} 个输入</translation>
        </message>
        <message>
            <source>input &quot;{input}&quot; does not exist</source>
            <translation>输入“{input}”不存在</translation>
        </message>
        <message>
            <source>{what} must be integers, not {type}</source>
            <translation>{what} 必须是整数，而不是 {type}</translation>
        </message>
        <message>
            <source>its constants would be far larger than the file</source>
            <translation>它的常量会远大于文件本身</translation>
        </message>
        <message>
            <source>the value &quot;{value}&quot; is defined twice</source>
            <translation>值“{value}”被定义了两次</translation>
        </message>
        <message>
            <source>attribute {attribute} is given twice</source>
            <translation>属性 {attribute} 给出了两次</translation>
        </message>
        <message>
            <source>attribute {attribute} refers to a function&apos;s attribute outside of a function</source>
            <translation>属性 {attribute} 在函数之外引用了函数的属性</translation>
        </message>
        <message>
            <source>attribute {attribute} must be {kind}</source>
            <translation>属性 {attribute} 必须是 {kind}</translation>
        </message>
        <message>
            <source>the external data file &quot;{file}&quot; {reason}</source>
            <translation>外部数据文件“{file}”：{reason}</translation>
        </message>
        <message>
            <source>the external data file &quot;{file}&quot; is missing: put it beside the model</source>
            <translation>缺少外部数据文件“{file}”：请把它放在模型旁边</translation>
        </message>
        <message>
            <source>the element type {type} of {tensor}</source>
            <translation>{tensor} 的元素类型 {type}</translation>
        </message>
        <message>
            <source>the file holds more than 2 GiB besides the raw data of its weights: keep the weights in external files</source>
            <translation>文件除权重的原始数据外还有超过 2 GiB：请把权重存到外部文件</translation>
        </message>
        <message>
            <source>not a valid ONNX file: its graph is cut off; download or export it again</source>
            <translation>不是有效的 ONNX 文件：计算图被截断；请重新下载或导出</translation>
        </message>
        <message>
            <source>not a valid ONNX file: a tensor is cut off; download or export it again</source>
            <translation>不是有效的 ONNX 文件：某个张量被截断；请重新下载或导出</translation>
        </message>
        <message>
            <source>not a valid ONNX file: at byte {offset} {reason}; download or export it again</source>
            <translation>不是有效的 ONNX 文件：字节 {offset} 处 {reason}；请重新下载或导出</translation>
        </message>
        <message>
            <source>attribute {attribute} {value}</source>
            <translation>属性 {attribute} {value}</translation>
        </message>
        <message>
            <source>attribute {attribute} is &quot;{value}&quot;</source>
            <translation>属性 {attribute} 是“{value}”</translation>
        </message>
        <message>
            <source>attribute axis is {axis}, but the input has {count:dimension|dimensions}</source>
            <translation>属性 axis 是 {axis}，但输入只有 {count} 维</translation>
        </message>
        <message>
            <source>the input must have at least 3 dimensions</source>
            <translation>输入至少要有 3 维</translation>
        </message>
        <message>
            <source>a condition that selects nothing, or more than there is</source>
            <translation>什么都不选或选出过多元素的条件</translation>
        </message>
        <message>
            <source>an input that is not a matrix of moderate size</source>
            <translation>不是中等大小矩阵的输入</translation>
        </message>
        <message>
            <source>a matrix of {rows} by {columns}</source>
            <translation>{rows} × {columns} 的矩阵</translation>
        </message>
        <message>
            <source>{what} must be one number, but has {count}</source>
            <translation>{what} 必须是一个数，但有 {count} 个</translation>
        </message>
        <message>
            <source>the indices are out of range</source>
            <translation>索引超出范围</translation>
        </message>
        <message>
            <source>the input must have at least 2 dimensions</source>
            <translation>输入至少要有 2 维</translation>
        </message>
        <message>
            <source>attribute {attribute} with the negative value {value}</source>
            <translation>负值 {value} 的属性 {attribute}</translation>
        </message>
        <message>
            <source>{count} spatial dimensions (only one to three)</source>
            <translation>{count} 个空间维（只支持一到三个）</translation>
        </message>
        <message>
            <source>attribute is_causal on a sequence this long</source>
            <translation>如此长序列上的属性 is_causal</translation>
        </message>
        <message>
            <source>a diagonal of {rows} by {columns}</source>
            <translation>{rows} × {columns} 的对角线</translation>
        </message>
        <message>
            <source>attribute axis is out of range</source>
            <translation>属性 axis 超出范围</translation>
        </message>
        <message>
            <source>the scale must have one value, or one for each entry of the axis</source>
            <translation>比例必须有一个值，或轴上每个元素一个值</translation>
        </message>
        <message>
            <source>sparse initializers</source>
            <translation>稀疏初始值</translation>
        </message>
        <message>
            <source>operator {operator}, which works on strings</source>
            <translation>算子 {operator}（处理字符串）</translation>
        </message>
        <message>
            <source>mode max with an adaptive number of samples (sampling_ratio 0)</source>
            <translation>采样数自适应（sampling_ratio 0）的 max 模式</translation>
        </message>
        <message>
            <source>{count} spatial dimensions (only two)</source>
            <translation>{count} 个空间维度（只支持两个）</translation>
        </message>
        <message>
            <source>a transform of {count} samples, which has a prime factor above 2048</source>
            <translation>{count} 个样本的变换，其质因数大于 2048</translation>
        </message>
        <message>
            <source>the determinant of a matrix of {rows} by {columns}</source>
            <translation>{rows} x {columns} 矩阵的行列式</translation>
        </message>
        <message>
            <source>{bands} bands of {length} samples at {rate} Hz from {low} to {high} Hz are out of range</source>
            <translation>{bands} 个频带（{length} 个样本，{rate} Hz，{low} 到 {high} Hz）超出范围</translation>
        </message>
        <message>
            <source>sequence_lens must be {count} integers from 0 to the number of steps</source>
            <translation>sequence_lens 必须是 {count} 个 0 到步数之间的整数</translation>
        </message>
        <message>
            <source>theta must be [N, 2, 3] for a size of 4 or [N, 3, 4] for one of 5 entries</source>
            <translation>size 有 4 个元素时 theta 必须是 [N, 2, 3]，有 5 个元素时必须是 [N, 3, 4]</translation>
        </message>
        <message>
            <source>values and positions must have one shape of at least 3 dimensions</source>
            <translation>值和位置的形状必须相同，且至少有 3 维</translation>
        </message>
        <message>
            <source>the last dimension must have one entry, or two for complex numbers</source>
            <translation>最后一维必须有一个元素，复数则为两个</translation>
        </message>
        <message>
            <source>the signal must be [batch, length, 1], or [batch, length, 2] if it is complex</source>
            <translation>信号必须是 [batch, length, 1]，复数则为 [batch, length, 2]</translation>
        </message>
        <message>
            <source>the window must have one dimension</source>
            <translation>窗必须是一维的</translation>
        </message>
        <message>
            <source>the last two dimensions must be equal, of floats</source>
            <translation>最后两维必须相等，元素必须是浮点数</translation>
        </message>
        <message>
            <source>a scalar has no matrix product</source>
            <translation>标量没有矩阵乘积</translation>
        </message>
        <message>
            <source>the caches must hold half of the rotated width for each position</source>
            <translation>对每个位置，缓存必须包含旋转宽度的一半</translation>
        </message>
        <message>
            <source>attribute rotary_embedding_dim is {width} for heads of size {size}</source>
            <translation>属性 rotary_embedding_dim 是 {width}，而注意力头的大小是 {size}</translation>
        </message>
        <message>
            <source>the input must have 3 or 4 dimensions</source>
            <translation>输入必须有 3 或 4 维</translation>
        </message>
        <message>
            <source>the network has more than 2 GiB of weights, the most that an ONNX file can hold</source>
            <translation>网络的权重超过 2 GiB，超出了 ONNX 文件的容量</translation>
        </message>
        <message>
            <source>ONNX cannot express the element type {type}</source>
            <translation>ONNX 无法表示元素类型 {type}</translation>
        </message>
        <message>
            <source>ONNX cannot express the operator {operator}</source>
            <translation>ONNX 无法表示算子 {operator}</translation>
        </message>
        <message>
            <source>training_mode</source>
            <translation>训练模式（training_mode）</translation>
        </message>
        <message>
            <source>attribute fmod 0 on {type}</source>
            <translation>{type} 上的属性 fmod 0</translation>
        </message>
        <message>
            <source>{what} must be a scalar, but has {count:value|values}</source>
            <translation>{what} 必须是标量，但有 {count} 个值</translation>
        </message>
        <message>
            <source>input &quot;{value}&quot; of data-dependent size</source>
            <translation>大小取决于数据的输入“{value}”</translation>
        </message>
        <message>
            <source>inputs whose sizes depend on data in different ways</source>
            <translation>大小以不同方式取决于数据的输入</translation>
        </message>
        <message>
            <source>an axis of data-dependent size</source>
            <translation>大小取决于数据的轴</translation>
        </message>
        <message>
            <source>the condition must have one dimension, but has {count}</source>
            <translation>条件必须是一维的，但有 {count} 维</translation>
        </message>
        <message>
            <source>boxes and scores must have three dimensions each</source>
            <translation>框和分数都必须是三维的</translation>
        </message>
        <message>
            <source>dimension {axis} of output &quot;{output}&quot; became {count}, more than its maximum of {most}</source>
            <translation>输出“{output}”的第 {axis} 维为 {count}，超过上限 {most}</translation>
        </message>
        <message>
            <source>a shape with a data-dependent size that cannot be followed</source>
            <translation>无法推导其中取决于数据的大小的形状</translation>
        </message>
        <message>
            <source>quantization to {type}</source>
            <translation>量化为 {type}</translation>
        </message>
        <message>
            <source>a sequence of {steps} steps</source>
            <translation>{steps} 步的序列</translation>
        </message>
        <message>
            <source>attribute activations has the wrong length</source>
            <translation>属性 activations 的长度不对</translation>
        </message>
        <message>
            <source>input and weights must have 3 dimensions</source>
            <translation>输入和权重必须有 3 维</translation>
        </message>
        <message>
            <source>the weights do not fit the input, hidden_size and direction</source>
            <translation>权重与输入、hidden_size 和方向不符</translation>
        </message>
        <message>
            <source>attribute mode &quot;{value}&quot; on {type}</source>
            <translation>{type} 上的属性 mode“{value}”</translation>
        </message>
        <message>
            <source>scales or sizes must be given, one for each resized dimension</source>
            <translation>必须给出 scales 或 sizes，每个缩放的维一个</translation>
        </message>
        <message>
            <source>{count:entry|entries} cannot be resized to {wanted}</source>
            <translation>{count} 个元素无法缩放到 {wanted} 个</translation>
        </message>
        <message>
            <source>attribute antialias with mode nearest</source>
            <translation>nearest 模式下的属性 antialias</translation>
        </message>
        <message>
            <source>the shape is missing</source>
            <translation>缺少形状</translation>
        </message>
        <message>
            <source>the axes are missing</source>
            <translation>缺少轴</translation>
        </message>
        <message>
            <source>starts and ends must be given</source>
            <translation>必须给出 starts 和 ends</translation>
        </message>
        <message>
            <source>attribute mode &quot;wrap&quot; with {before} before and {after} after {count:entry|entries}</source>
            <translation>属性 mode“wrap”，在 {count} 个元素前后各 {before} 和 {after}</translation>
        </message>
        <message>
            <source>attribute kernel_shape contradicts the weight</source>
            <translation>属性 kernel_shape 与权重矛盾</translation>
        </message>
        <message>
            <source>data and weight must have equal numbers of dimensions</source>
            <translation>数据和权重的维数必须相等</translation>
        </message>
        <message>
            <source>attribute {attribute} is {value}, which is out of range</source>
            <translation>属性 {attribute} 的值 {value} 超出范围</translation>
        </message>
        <message>
            <source>attribute {attribute} must have {wanted:entry|entries}, but has {count}</source>
            <translation>属性 {attribute} 必须有 {wanted} 个值，但有 {count} 个</translation>
        </message>
        <message>
            <source>segmented storage of {tensor}</source>
            <translation>{tensor} 的分段存储</translation>
        </message>
        <message>
            <source>{tensor} {reason}</source>
            <translation>{tensor}：{reason}</translation>
        </message>
        <message>
            <source>{heads} heads do not divide the width {width}</source>
            <translation>{heads} 个头不能整除宽度 {width}</translation>
        </message>
        <message>
            <source>{keys} heads of keys do not divide {queries} heads of queries</source>
            <translation>{keys} 个键头不能整除 {queries} 个查询头</translation>
        </message>
        <message>
            <source>queries, keys and values must all have 3 or all have 4 dimensions</source>
            <translation>查询、键和值必须都是 3 维或都是 4 维</translation>
        </message>
        <message>
            <source>attribute equation is malformed</source>
            <translation>属性 equation 格式不对</translation>
        </message>
        <message>
            <source>{groups} groups do not divide the channels</source>
            <translation>{groups} 个组不能整除通道数</translation>
        </message>
        <message>
            <source>input &quot;{input}&quot; has the shape [{shape}]: each dimension must be from 0 to 2^31</source>
            <translation>输入“{input}”的形状是 [{shape}]：每一维必须在 0 到 2^31 之间</translation>
        </message>
        <message>
            <source>input &quot;{input}&quot; has {count:dimension|dimensions}, but the shape [{shape}] has {wanted}</source>
            <translation>输入“{input}”有 {count} 维，但形状 [{shape}] 有 {wanted} 维</translation>
        </message>
        <message>
            <source>the image size must be from 1 to 16384, not {size}</source>
            <translation>图像大小必须在 1 到 16384 之间，而不是 {size}</translation>
        </message>
        <message>
            <source>the number of classes must be from 1 to 1000000, not {classes}</source>
            <translation>类别数必须在 1 到 1000000 之间，而不是 {classes}</translation>
        </message>
        <message>
            <source>unknown layout &apos;{layout}&apos;: use NCHW or NHWC</source>
            <translation>未知的布局“{layout}”：可用 NCHW 或 NHWC</translation>
        </message>
        <message>
            <source>the batch must be from 1 to 65536, not {batch}</source>
            <translation>批量必须在 1 到 65536 之间，而不是 {batch}</translation>
        </message>
        <message>
            <source>the zoo has no network &apos;{network}&apos;; it has {networks}</source>
            <translation>内置网络中没有“{network}”；有 {networks}</translation>
        </message>
        <message>
            <source>only a reshape: shares its input&apos;s storage</source>
            <translation>只是改变形状：与输入共用存储</translation>
        </message>
        <message>
            <source>its body &quot;{body}&quot; takes {inputs:value|values}, but gets {given}</source>
            <translation>其子图“{body}”接受 {inputs} 个值，实际给出 {given} 个</translation>
        </message>
        <message>
            <source>its body &quot;{body}&quot; returns {outputs:value|values}, but at least {wanted} are expected</source>
            <translation>其子图“{body}”返回 {outputs} 个值，至少需要 {wanted} 个</translation>
        </message>
        <message>
            <source>it has no {attribute}</source>
            <translation>缺少 {attribute}</translation>
        </message>
        <message>
            <source>its body &quot;{body}&quot; does not compute &quot;{value}&quot;</source>
            <translation>其主体“{body}”没有计算“{value}”</translation>
        </message>
        <message>
            <source>{what} must be a single {type}, not {given}</source>
            <translation>{what} 必须是单个 {type}，而不是 {given}</translation>
        </message>
        <message>
            <source>branches that return {one} and {other} for &quot;{value}&quot;</source>
            <translation>“{value}”分别为 {one} 和 {other} 的分支</translation>
        </message>
        <message>
            <source>a loop-carried value &quot;{value}&quot; that enters as {before} and leaves as {after}</source>
            <translation>传入为 {before}、传出为 {after} 的循环携带值“{value}”</translation>
        </message>
        <message>
            <source>scan output &quot;{value}&quot; without a bound (a constant trip count gives one)</source>
            <translation>没有上界的扫描输出“{value}”（常量的循环次数可给出上界）</translation>
        </message>
        <message>
            <source>bodies nested {count} deep</source>
            <translation>嵌套 {count} 层的子图</translation>
        </message>
        <message>
            <source>a body&apos;s result &quot;{value}&quot; of data-dependent size</source>
            <translation>子图中大小取决于数据的结果“{value}”</translation>
        </message>
        <message>
            <source>a batch of {count} sequences (opset 9 has none)</source>
            <translation>{count} 个序列的批（从 opset 9 起不再有批）</translation>
        </message>
        <message>
            <source>sequence lengths</source>
            <translation>序列长度</translation>
        </message>
        <message>
            <source>the sequences differ in length: {one} and {other}</source>
            <translation>各序列长度不同：{one} 和 {other}</translation>
        </message>
        <message>
            <source>control flow: run by the executor itself</source>
            <translation>控制流：由执行器直接执行</translation>
        </message>
        <message>
            <source>operator {operator} runs as a library function</source>
            <translation>算子 {operator} 作为库函数运行</translation>
        </message>
        <message>
            <source>only elementwise and injective operators: nothing to tile</source>
            <translation>只有逐元素和单射算子：没有可分块的内容</translation>
        </message>
        <message>
            <source>node &quot;{nodes}&quot; uses the operator {operator}, which does not exist</source>
            <translation>节点“{nodes}”使用的算子 {operator} 不存在</translation>
        </message>
        <message>
            <source>{operator} &quot;{nodes}&quot;: an input is missing</source>
            <translation>{operator}“{nodes}”：缺少一个输入</translation>
        </message>
        <message>
            <source>{node}: takes {wanted:input|inputs}, but has {count}</source>
            <translation>{node}：需要 {wanted} 个输入，但有 {count} 个</translation>
        </message>
        <message>
            <source>{node}: has {count:output|outputs}, but the graph names {wanted}</source>
            <translation>{node}：有 {count} 个输出，但计算图写了 {wanted} 个</translation>
        </message>
        <message>
            <source>these operators are not supported: {operators}</source>
            <translation>不支持这些算子：{operators}</translation>
        </message>
        <message>
            <source>operator {operator} of node &apos;{nodes}&apos; has no compute definition</source>
            <translation>节点“{nodes}”的算子 {operator} 没有计算定义</translation>
        </message>
        <message>
            <source>hardware parameter {limit} is not an integer</source>
            <translation>硬件参数 {limit} 不是整数</translation>
        </message>
        <message>
            <source>the hardware parameters begin like JSON but are not a JSON object</source>
            <translation>硬件参数的开头像 JSON，但不是 JSON 对象</translation>
        </message>
        <message>
            <source>{file} contains no hardware parameters</source>
            <translation>{file} 中没有硬件参数</translation>
        </message>
        <message>
            <source>--hardware {name}: neither a file nor a CPU that Lathe knows</source>
            <translation>--hardware {name}：既不是文件，也不是 Lathe 认识的 CPU</translation>
        </message>
        <message>
            <source>the target {target} has no hardware parameter {limit}; it has {limits}</source>
            <translation>目标 {target} 没有硬件参数 {limit}；有 {limits}</translation>
        </message>
        <message>
            <source>{limit} is {value}, but must be from {least} to {most}</source>
            <translation>{limit} 是 {value}，但必须在 {least} 到 {most} 之间</translation>
        </message>
        <message>
            <source>{limit} is {value}, but must be a power of two from 4 to 4096</source>
            <translation>{limit} 是 {value}，但必须是 4 到 4096 之间的 2 的幂</translation>
        </message>
        <message>
            <source>{limit} is {value}, which is true of no device</source>
            <translation>{limit} 为 {value}，任何设备都不是这样</translation>
        </message>
        <message>
            <source>num_cores is {value}, but must be at most 4096</source>
            <translation>num_cores 是 {value}，但最多为 4096</translation>
        </message>
        <message>
            <source>the target is empty; use {kinds}</source>
            <translation>目标为空；可以是 {kinds}</translation>
        </message>
        <message>
            <source>target option &apos;{word}&apos;: {kind} takes no options</source>
            <translation>目标选项“{word}”：{kind} 不接受选项</translation>
        </message>
        <message>
            <source>target option &apos;{word}&apos; expects {wanted}</source>
            <translation>目标选项“{word}”需要 {wanted}</translation>
        </message>
        <message>
            <source>target kind &apos;{kind}&apos; is not one of {kinds}</source>
            <translation>目标种类“{kind}”不在 {kinds} 之中</translation>
        </message>
        <message>
            <source>target kind &apos;{kind}&apos; is not one of {kinds}; the CPU&apos;s is named cpu here</source>
            <translation>目标种类“{kind}”不在 {kinds} 之中；CPU 的目标在这里叫 cpu</translation>
        </message>
        <message>
            <source>a quote is not closed in target &apos;{target}&apos;</source>
            <translation>目标“{target}”中有未闭合的引号</translation>
        </message>
        <message>
            <source>target option &apos;{word}&apos; has no value</source>
            <translation>目标选项“{word}”没有值</translation>
        </message>
        <message>
            <source>target option &apos;{word}&apos; is not of the form -key=value</source>
            <translation>目标选项“{word}”不是 -key=value 的形式</translation>
        </message>
        <message>
            <source>target option &apos;{word}&apos; repeats an earlier one</source>
            <translation>目标选项“{word}”与前面的重复</translation>
        </message>
        <message>
            <source>target option &apos;{word}&apos;: {kind} takes {keys}</source>
            <translation>目标选项“{word}”：{kind} 接受 {keys}</translation>
        </message>
        <message>
            <source>{file} is a folder, not a project</source>
            <translation>{file} 是文件夹，不是项目</translation>
        </message>
        <message>
            <source>there is no project {file}</source>
            <translation>没有项目 {file}</translation>
        </message>
        <message>
            <source>cannot create {file}: there is no folder {folder}</source>
            <translation>无法创建 {file}：没有文件夹 {folder}</translation>
        </message>
        <message>
            <source>{file} is damaged: it is cut off in the middle of a page</source>
            <translation>{file} 已损坏：它在一页中间被截断</translation>
        </message>
        <message>
            <source>cannot create {file}: its folder is not writable</source>
            <translation>无法创建 {file}：它的文件夹不可写</translation>
        </message>
        <message>
            <source>{file} is opened read-only: its folder is not writable</source>
            <translation>{file} 以只读方式打开：它的文件夹不可写</translation>
        </message>
        <message>
            <source>{file} is opened read-only: another Lathe is writing to it</source>
            <translation>{file} 以只读方式打开：另一个 Lathe 正在写入</translation>
        </message>
        <message>
            <source>{file} is opened read-only</source>
            <translation>{file} 以只读方式打开</translation>
        </message>
        <message>
            <source>{file} is opened read-only: {writer} is writing to it</source>
            <translation>{file} 以只读方式打开：{writer}正在写入</translation>
        </message>
        <message>
            <source>{program} (process {pid} on {host})</source>
            <translation>{program}（{host} 上的进程 {pid}）</translation>
        </message>
        <message>
            <source>another program</source>
            <translation>另一个程序</translation>
        </message>
        <message>
            <source>the program that wrote to {file} has ended: open the project again to write to it</source>
            <translation>写入 {file} 的程序已结束：重新打开项目即可写入</translation>
        </message>
        <message>
            <source>the program that held this run has ended</source>
            <translation>执行此次运行的程序已结束</translation>
        </message>
        <message>
            <source>the latest run continues: {rounds:round|rounds} with {trials:trial|trials} so far</source>
            <translation>最近一次运行继续：到目前为止已有 {rounds} 轮、{trials} 次试验</translation>
        </message>
        <message>
            <source>a new run starts, because its options differ from those of the latest one ({options})</source>
            <translation>开始新的运行，因为其选项与最近一次运行不同（{options}）</translation>
        </message>
        <message>
            <source>a new run starts, because the latest one cannot continue here: {reason}</source>
            <translation>开始新的运行，因为最近一次运行无法在此继续：{reason}</translation>
        </message>
        <message>
            <source>kernel {kernel}: {language} cannot express {what}</source>
            <translation>内核 {kernel}：{language} 无法表示 {what}</translation>
        </message>
        <message>
            <source>the listing has an unknown format</source>
            <translation>该代码清单的格式不同</translation>
        </message>
        <message>
            <source>{bytes} bytes of shared memory exceed the limit of {most} per block{limit:-}</source>
            <translation>{bytes} 字节共享内存超过每块 {most} 字节的上限</translation>
        </message>
        <message>
            <source>{bytes} bytes of arrays per thread exceed the limit of {most}{limit:-}</source>
            <translation>一个线程的数组占 {bytes} 字节，超过 {most} 字节的上限</translation>
        </message>
        <message>
            <source>{blocks} blocks along one axis exceed the limit of {most}{limit:-}</source>
            <translation>一个轴上的 {blocks} 个块超过 {most} 个的上限</translation>
        </message>
        <message>
            <source>vectors of {bytes} bytes exceed the limit of {most}{limit:-}</source>
            <translation>{bytes} 字节的向量超过 {most} 字节的上限</translation>
        </message>
        <message>
            <source>&apos;{stage}&apos; needs a barrier in code that not all threads of a block reach: {statement}</source>
            <translation>“{stage}”需要一个屏障，但线程块中并非所有线程都会到达该处：{statement}</translation>
        </message>
        <message>
            <source>the network has no constant {number}</source>
            <translation>网络中没有编号为 {number} 的常量</translation>
        </message>
        <message>
            <source>the constant &apos;{name}&apos; has no values {first} to {last}</source>
            <translation>常量“{name}”没有第 {first} 至 {last} 个值</translation>
        </message>
        <message>
            <source>it starts from {trials:trial|trials} of earlier runs</source>
            <translation>它从先前各次运行的 {trials} 次试验开始</translation>
        </message>
        <message>
            <source>--resume continues the latest run and --start-over starts a new one: give only one of them</source>
            <translation>--resume 继续最近一次运行，--start-over 开始新的运行：请只给其中一个</translation>
        </message>
        <message>
            <source>the model has open dimensions: {dimensions}; set each with --dim NAME=N, for example {example}</source>
            <translation>模型未确定：{dimensions}；请用 --dim NAME=N 逐一设置，例如 {example}</translation>
        </message>
        <message>
            <source>{file} was written by an older Lathe and cannot be brought up to date: {reason}</source>
            <translation>{file} 由旧版 Lathe 写成，无法更新：{reason}</translation>
        </message>
        <message>
            <source>{file} is a database, but not a Lathe project</source>
            <translation>{file} 是数据库，但不是 Lathe 项目</translation>
        </message>
        <message>
            <source>{file} was written by a newer Lathe (schema {schema}; this version reads up to {known})</source>
            <translation>{file} 由更新的 Lathe 写成（模式版本 {schema}；本版最高支持 {known}）</translation>
        </message>
        <message>
            <source>{file} is damaged: its tables do not match schema {schema}</source>
            <translation>{file} 已损坏：它的表与模式版本 {schema} 不符</translation>
        </message>
        <message>
            <source>{file} is empty</source>
            <translation>{file} 是空的</translation>
        </message>
        <message>
            <source>{file} has no trial {trial}</source>
            <translation>{file} 中没有试验 {trial}</translation>
        </message>
        <message>
            <source>the query was stopped</source>
            <translation>查询已停止</translation>
        </message>
        <message>
            <source>the project has no trial {trial}</source>
            <translation>项目中没有试验 {trial}</translation>
        </message>
        <message>
            <source>the project has no record {record}</source>
            <translation>项目中没有记录 {record}</translation>
        </message>
        <message>
            <source>trial {trial} of the project is damaged: column {column}</source>
            <translation>项目中的试验 {trial} 已损坏：列 {column}</translation>
        </message>
        <message>
            <source>{doing} {file}: {reason}</source>
            <translation>{doing} {file}：{reason}</translation>
        </message>
        <message>
            <source>opening</source>
            <translation>打开</translation>
        </message>
        <message>
            <source>reading</source>
            <translation>读取</translation>
        </message>
        <message>
            <source>writing</source>
            <translation>写入</translation>
        </message>
        <message>
            <source>the disk is full: free some space and try again</source>
            <translation>磁盘已满：请腾出空间再试</translation>
        </message>
        <message>
            <source>the file or its folder is read-only</source>
            <translation>文件或其文件夹是只读的</translation>
        </message>
        <message>
            <source>another program is writing to it</source>
            <translation>另一个程序正在写入</translation>
        </message>
        <message>
            <source>the file is damaged</source>
            <translation>文件已损坏</translation>
        </message>
        <message>
            <source>the file is not a Lathe project</source>
            <translation>文件不是 Lathe 项目</translation>
        </message>
        <message>
            <source>cannot open it: check that the folder exists and is writable</source>
            <translation>无法打开：请检查文件夹是否存在且可写</translation>
        </message>
        <message>
            <source>reading or writing failed: check whether the disk is full or gone</source>
            <translation>读写失败：请检查磁盘是否已满或已断开</translation>
        </message>
        <message>
            <source>out of memory</source>
            <translation>内存不足</translation>
        </message>
        <message>
            <source>cannot write {file}</source>
            <translation>无法写入 {file}</translation>
        </message>
        <message>
            <source>writing {file} failed: is the disk full?</source>
            <translation>写入 {file} 失败：磁盘满了吗？</translation>
        </message>
        <message>
            <source>cannot create {file}: {reason}</source>
            <translation>无法创建 {file}：{reason}</translation>
        </message>
        <message>
            <source>there is no file {file}</source>
            <translation>没有文件 {file}</translation>
        </message>
        <message>
            <source>{file} is not a log file</source>
            <translation>{file} 不是日志文件</translation>
        </message>
        <message>
            <source>cannot read {file}</source>
            <translation>无法读取 {file}</translation>
        </message>
        <message>
            <source>reading {file} failed after {lines:line|lines}</source>
            <translation>读取 {file} 在第 {lines} 行之后失败</translation>
        </message>
        <message>
            <source>auto-scheduler log without a version</source>
            <translation>auto-scheduler 日志没有版本号</translation>
        </message>
        <message>
            <source>auto-scheduler log of version &apos;{version}&apos;; v0.1 to v0.6 are supported</source>
            <translation>auto-scheduler 日志的版本是“{version}”；支持 v0.1 到 v0.6</translation>
        </message>
        <message>
            <source>template tuner&apos;s configuration of {template}: Lathe has no such template to apply it to</source>
            <translation>模板调优器对 {template} 的配置：Lathe 没有可以套用的模板</translation>
        </message>
        <message>
            <source>workload of MetaSchedule&apos;s database, whose traces Lathe cannot replay</source>
            <translation>MetaSchedule 数据库的工作负载，Lathe 无法重放它的轨迹</translation>
        </message>
        <message>
            <source>record of MetaSchedule&apos;s database, whose trace Lathe cannot replay</source>
            <translation>MetaSchedule 数据库的记录，Lathe 无法重放它的轨迹</translation>
        </message>
        <message>
            <source>JSON, but not a record of a known tuner</source>
            <translation>是 JSON，但不是任何已知调优器的记录</translation>
        </message>
        <message>
            <source>not JSON</source>
            <translation>不是 JSON</translation>
        </message>
        <message>
            <source>binary data</source>
            <translation>二进制数据</translation>
        </message>
        <message>
            <source>JSON nested deeper than any record</source>
            <translation>JSON 的嵌套比任何记录都深</translation>
        </message>
        <message>
            <source>the log reports error {error}: {reason}</source>
            <translation>日志报告错误 {error}：{reason}</translation>
        </message>
        <message>
            <source>applying the steps failed</source>
            <translation>应用步骤失败</translation>
        </message>
        <message>
            <source>compiling failed</source>
            <translation>编译失败</translation>
        </message>
        <message>
            <source>loading the program failed</source>
            <translation>加载程序失败</translation>
        </message>
        <message>
            <source>running the program failed</source>
            <translation>运行程序失败</translation>
        </message>
        <message>
            <source>the result was wrong</source>
            <translation>结果错误</translation>
        </message>
        <message>
            <source>compiling took too long</source>
            <translation>编译太久</translation>
        </message>
        <message>
            <source>running took too long</source>
            <translation>运行太久</translation>
        </message>
        <message>
            <source>unknown cause</source>
            <translation>原因不明</translation>
        </message>
        <message>
            <source>longer than {mib} MiB</source>
            <translation>超过 {mib} MiB</translation>
        </message>
        <message>
            <source>truncated: the file ends within the line</source>
            <translation>被截断：文件在这一行内结束</translation>
        </message>
        <message>
            <source>its task is in no network of this project</source>
            <translation>所属的任务不在本项目的任何网络中</translation>
        </message>
        <message>
            <source>no workload key</source>
            <translation>没有工作负载键</translation>
        </message>
        <message>
            <source>its workload is not in this network</source>
            <translation>所属的工作负载不在这个网络中</translation>
        </message>
        <message>
            <source>{task} is computed in other stages than in the reference: open the network with --partition reference</source>
            <translation>{task} 的计算阶段与参考实现不同：请用 --partition reference 打开网络</translation>
        </message>
        <message>
            <source>its steps cannot be applied to {task}: {reason}</source>
            <translation>它的步骤不能用于 {task}：{reason}</translation>
        </message>
        <message>
            <source>other reasons</source>
            <translation>其他原因</translation>
        </message>
        <message>
            <source>libraries can be exported for x86_64 and aarch64, not for &apos;{machine}&apos;</source>
            <translation>可以为 x86_64 和 aarch64 导出库，不能为“{machine}”导出</translation>
        </message>
        <message>
            <source>the runtime that libraries are linked with is not at &apos;{file}&apos;</source>
            <translation>链接库所用的运行时不在“{file}”</translation>
        </message>
        <message>
            <source>libraries with code for {kind} are linked by the back end of the target &apos;{linker}&apos;</source>
            <translation>含 {kind} 代码的库由目标“{linker}”的后端链接</translation>
        </message>
        <message>
            <source>the driver for {kind} that libraries are linked with is not at &apos;{file}&apos;</source>
            <translation>链接库所用的 {kind} 驱动不在“{file}”处</translation>
        </message>
        <message>
            <source>this build of Lathe cannot link libraries for {machine}: install the package {package} and build Lathe again</source>
            <translation>此版 Lathe 无法链接 {machine} 的库：请安装软件包 {package} 并重新构建 Lathe</translation>
        </message>
        <message>
            <source>no library can be exported for the target {kind}: its back end makes none</source>
            <translation>无法为目标 {kind} 导出库：其后端不生成库</translation>
        </message>
        <message>
            <source>libraries are made for Linux with glibc (MACHINE-linux-gnu), not for &apos;{triple}&apos;</source>
            <translation>库面向使用 glibc 的 Linux（MACHINE-linux-gnu），不面向“{triple}”</translation>
        </message>
        <message>
            <source>libraries cannot be exported for &apos;{machine}&apos; yet, only for x86_64 and aarch64</source>
            <translation>还不能为“{machine}”导出库，目前只支持 x86_64 和 aarch64</translation>
        </message>
        <message>
            <source>&apos;{file}&apos; is not a file name for a library</source>
            <translation>“{file}”不是库的文件名</translation>
        </message>
        <message>
            <source>there is no folder &apos;{file}&apos;</source>
            <translation>没有文件夹“{file}”</translation>
        </message>
        <message>
            <source>cannot write &apos;{file}&apos;: {reason}</source>
            <translation>无法写入“{file}”：{reason}</translation>
        </message>
        <message>
            <source>not written by Lathe, so not replaced: {files}; choose another folder or --name, or allow it with --overwrite</source>
            <translation>不是 Lathe 写的，因此没有替换：{files}；请换一个文件夹或 --name，或用 --overwrite 允许替换</translation>
        </message>
        <message>
            <source>the library cannot be named {file}: a file that goes with it has that name</source>
            <translation>库不能命名为 {file}：随库写出的文件中有一个用这个名字</translation>
        </message>
        <message>
            <source>{file} is not loaded because any user can modify {changed}: remove that permission (chmod o-w)</source>
            <translation>未加载 {file}：任何用户都可以修改 {changed}，请取消该权限（chmod o-w）</translation>
        </message>
        <message>
            <source>{file} is not loaded because it belongs to another user: it must belong to root, to the owner of this program or to you</source>
            <translation>未加载 {file}：它属于另一个用户，而它必须属于 root、本程序的所有者或您</translation>
        </message>
        <message>
            <source>round {round} was interrupted and cannot be repeated, because other candidates are proposed now: its {count:stored trial counts|stored trials count} as the whole round</source>
            <translation>第 {round} 轮曾被中断且无法重现，因为现在提出的候选程序不同：已保存的 {count} 次试验算作整轮</translation>
        </message>
        <message>
            <source>the target &apos;{target}&apos; is given twice</source>
            <translation>目标“{target}”给出了两次</translation>
        </message>
        <message>
            <source>a library is for one architecture: &apos;{first}&apos; and &apos;{other}&apos; differ</source>
            <translation>一个库只用于一种架构：“{first}”与“{other}”不同</translation>
        </message>
        <message>
            <source>this processor lacks {features}, which code for {target} needs: skip the comparison and the benchmark (--no-verify --no-bench)</source>
            <translation>本机处理器没有 {features}，而 {target} 的代码需要它们：请跳过比较和基准测试（--no-verify --no-bench）</translation>
        </message>
        <message>
            <source>a library has 1 to {most} variants, not {count}</source>
            <translation>一个库有 1 到 {most} 个变体，而不是 {count} 个</translation>
        </message>
        <message>
            <source>this processor lacks instructions that {target} uses</source>
            <translation>本机处理器缺少 {target} 使用的指令</translation>
        </message>
        <message>
            <source>for the target {target}: {reason}</source>
            <translation>对于目标 {target}：{reason}</translation>
        </message>
        <message>
            <source>&apos;{file}&apos; was exported for {machine}, this machine is {here}</source>
            <translation>“{file}”是为 {machine} 导出的，本机是 {here}</translation>
        </message>
        <message>
            <source>&apos;{file}&apos; cannot be loaded: {reason}</source>
            <translation>无法加载“{file}”：{reason}</translation>
        </message>
        <message>
            <source>&apos;{file}&apos; was exported by another version of Lathe; export it again</source>
            <translation>“{file}”由另一版本的 Lathe 导出；请重新导出</translation>
        </message>
        <message>
            <source>&apos;{file}&apos; is not a shared object for 64-bit Linux, or is damaged</source>
            <translation>“{file}”不是 64 位 Linux 的共享库，或者已损坏</translation>
        </message>
        <message>
            <source>&apos;{file}&apos; is not an exported network: it has no lathe_NAME_ functions</source>
            <translation>“{file}”不是导出的网络：其中没有 lathe_NAME_ 函数</translation>
        </message>
        <message>
            <source>cannot read {file} as .npy: {reason}</source>
            <translation>无法按 .npy 读取 {file}：{reason}</translation>
        </message>
        <message>
            <source>it does not begin like one</source>
            <translation>开头不是 .npy 的格式</translation>
        </message>
        <message>
            <source>its version is not 1 to 3</source>
            <translation>版本不是 1 到 3</translation>
        </message>
        <message>
            <source>it is truncated</source>
            <translation>文件被截断</translation>
        </message>
        <message>
            <source>it has no shape</source>
            <translation>没有形状</translation>
        </message>
        <message>
            <source>its shape is damaged</source>
            <translation>形状已损坏</translation>
        </message>
        <message>
            <source>it has more dimensions than any tensor</source>
            <translation>维数超过任何张量</translation>
        </message>
        <message>
            <source>its size does not match its shape</source>
            <translation>大小与形状不符</translation>
        </message>
        <message>
            <source>{file} is in Fortran order: save it in C order</source>
            <translation>{file} 是 Fortran 顺序：请以 C 顺序保存</translation>
        </message>
        <message>
            <source>{file} has elements of type {type}, which is not supported</source>
            <translation>{file} 的元素类型为 {type}，不受支持</translation>
        </message>
        <message>
            <source>{file} holds {given}, but input &apos;{input}&apos; takes {wanted}</source>
            <translation>{file} 中是 {given}，但输入“{input}”需要 {wanted}</translation>
        </message>
        <message>
            <source>--input {text} is not of the form NAME=FILE.npy</source>
            <translation>--input {text} 不是 NAME=FILE.npy 的形式</translation>
        </message>
        <message>
            <source>the network has no input named {input}; it has {inputs}</source>
            <translation>网络没有名为 {input} 的输入；它有 {inputs}</translation>
        </message>
        <message>
            <source>--input gives {input} twice</source>
            <translation>--input 两次给出 {input}</translation>
        </message>
        <message>
            <source>generated inputs do not suit this network ({reason}): give your own with --input NAME=FILE.npy</source>
            <translation>自动生成的输入不适合这个网络（{reason}）：请用 --input NAME=FILE.npy 给出您自己的输入</translation>
        </message>
        <message>
            <source>with generated inputs a loop of the network did not end within {seconds:g} s: give inputs with which it ends (--input NAME=FILE.npy)</source>
            <translation>用自动生成的输入时，网络中的一个循环未能在 {seconds:g} 秒内结束：请给出能使它结束的输入（--input NAME=FILE.npy）</translation>
        </message>
        <message>
            <source>&apos;{tensor}&apos; is ill-conditioned: rounding alone changes it by {change:.2g}, relative to its largest element</source>
            <translation>“{tensor}”是病态的：仅舍入就使它改变 {change:.2g}（相对于其最大元素）</translation>
        </message>
        <message>
            <source>tensor &apos;{tensor}&apos; has {count} dimensions; at most {most} are supported</source>
            <translation>张量“{tensor}”有 {count} 维，最多支持 {most} 维</translation>
        </message>
        <message>
            <source>the runtime archive {file} does not exist</source>
            <translation>运行时归档 {file} 不存在</translation>
        </message>
        <message>
            <source>the library {file} for &apos;{triple}&apos; is in neither {here} nor {there}: install the package {package}</source>
            <translation>找不到“{triple}”的库 {file}：{here} 和 {there} 中都没有；请安装软件包 {package}</translation>
        </message>
        <message>
            <source>the library {file} for &apos;{triple}&apos; is in neither {here} nor {there}{package:-}</source>
            <translation>找不到“{triple}”的库 {file}：{here} 和 {there} 中都没有</translation>
        </message>
        <message>
            <source>cannot write {file}: the disk is full ({needed:.3g} MB needed, {free:.3g} MB free)</source>
            <translation>无法写入 {file}：磁盘已满（需要 {needed:.3g} MB，剩余 {free:.3g} MB）</translation>
        </message>
        <message>
            <source>the network&apos;s weights take {size:.1f} GB; a library for aarch64 holds at most {most:.1f} GB</source>
            <translation>网络的权重有 {size:.1f} GB；aarch64 的库最多容纳 {most:.1f} GB</translation>
        </message>
        <message>
            <source>tuning was skipped</source>
            <translation>跳过了调优</translation>
        </message>
        <message>
            <source>its best record uses the alternative {alternative}, which this version does not offer</source>
            <translation>它最好的记录用的是算法 {alternative}，本版没有这个算法</translation>
        </message>
        <message>
            <source>its best record comes from another version of Lathe, which computed {alternative} in other steps</source>
            <translation>它最好的记录由另一版本的 Lathe 写成，那一版用别的步骤计算 {alternative}</translation>
        </message>
        <message>
            <source>its records use {alternative}, which --strict forbids</source>
            <translation>它的记录使用 {alternative}，而 --strict 不允许</translation>
        </message>
        <message>
            <source>all its records come from imported logs and were measured elsewhere: measure them again (lathe-cli records remeasure --imported)</source>
            <translation>它的记录都来自导入的日志，是在别处测量的：请重新测量（lathe-cli records remeasure --imported）</translation>
        </message>
        <message>
            <source>its records are for target {target}</source>
            <translation>它的记录是为目标 {target} 测量的</translation>
        </message>
        <message>
            <source>the target of its records is not known</source>
            <translation>它的记录的目标未知</translation>
        </message>
        <message>
            <source>it has no valid record</source>
            <translation>它没有有效的记录</translation>
        </message>
        <message>
            <source>{name} has no compute definition</source>
            <translation>{name} 没有计算定义</translation>
        </message>
        <message>
            <source>{count} of {tasks} tasks have no valid record ({names}): tune them, or allow default schedules (--allow-default)</source>
            <translation>{tasks} 个任务中有 {count} 个没有有效的记录（{names}）：请调优这些任务，或允许默认调度（--allow-default）</translation>
        </message>
        <message>
            <source>and {more} more</source>
            <translation>以及另外 {more} 个</translation>
        </message>
        <message>
            <source>an unknown device</source>
            <translation>未知设备</translation>
        </message>
        <message>
            <source>measured on {device} with other hardware parameters</source>
            <translation>在 {device} 上以不同的硬件参数测量</translation>
        </message>
        <message>
            <source>measured on {device}, not on {here}</source>
            <translation>在 {device} 上测量，而不是 {here}</translation>
        </message>
        <message>
            <source>measured with caches {cache}, of another size</source>
            <translation>测量时缓存状态为“{cache}”，大小不同</translation>
        </message>
        <message>
            <source>measured with caches {cache}, not {here}</source>
            <translation>测量时缓存状态为“{cache}”，而不是“{here}”</translation>
        </message>
        <message>
            <source>{device}, with caches {cache}, of another size</source>
            <translation>{device}，缓存状态为“{cache}”，大小不同</translation>
        </message>
        <message>
            <source>{device}, with caches {cache}, not {here}</source>
            <translation>{device}，缓存状态为“{cache}”，而不是“{here}”</translation>
        </message>
        <message>
            <source>cold</source>
            <translation>冷</translation>
        </message>
        <message>
            <source>as in the network</source>
            <translation>与网络中相同</translation>
        </message>
        <message>
            <source>warm</source>
            <translation>热</translation>
        </message>
        <message>
            <source>there is no task {task}</source>
            <translation>没有任务 {task}</translation>
        </message>
        <message>
            <source>the boost must be above zero, not {boost}</source>
            <translation>加权必须大于零，而不是 {boost}</translation>
        </message>
        <message>
            <source>{count} is not a valid number of trials</source>
            <translation>{count} 不是有效的试验次数</translation>
        </message>
        <message>
            <source>the project is opened read-only</source>
            <translation>项目以只读方式打开</translation>
        </message>
        <message>
            <source>hardware parameters cannot change during a run: stop it first</source>
            <translation>运行期间不能更改硬件参数：请先停止运行</translation>
        </message>
        <message>
            <source>the time limit must be above zero, not {seconds} s</source>
            <translation>时间上限必须大于零，而不是 {seconds} 秒</translation>
        </message>
        <message>
            <source>there are no trials to measure again without a project</source>
            <translation>没有项目，就没有可重新测量的试验</translation>
        </message>
        <message>
            <source>a run is in progress and would be disturbed: stop it or wait for its end before you measure trials again</source>
            <translation>正在运行，会受到干扰：请先停止运行或等它结束，再重新测量试验</translation>
        </message>
        <message>
            <source>other trials are being measured again: wait until they are done</source>
            <translation>正在重新测量其他试验：请等它们结束</translation>
        </message>
        <message>
            <source>a tuning log can only be imported into a project</source>
            <translation>调优日志只能导入到项目中</translation>
        </message>
        <message>
            <source>a note can only be kept in a project</source>
            <translation>备注只能保存在项目中</translation>
        </message>
        <message>
            <source>trials are being measured again: wait until they are done before you start a run</source>
            <translation>正在重新测量试验：请等它们结束再开始运行</translation>
        </message>
        <message>
            <source>a run is already in progress</source>
            <translation>已经在运行</translation>
        </message>
        <message>
            <source>there are no records without a project</source>
            <translation>没有项目，就没有记录</translation>
        </message>
        <message>
            <source>{task} has no valid record yet</source>
            <translation>{task} 还没有有效的记录</translation>
        </message>
        <message>
            <source>there is no history without a project</source>
            <translation>没有项目，就没有历史</translation>
        </message>
        <message>
            <source>no model given: name an ONNX file or zoo:NAME</source>
            <translation>没有指定模型：请给出 ONNX 文件或 zoo:名称</translation>
        </message>
        <message>
            <source>{file} has no model yet: name one</source>
            <translation>{file} 中还没有模型：请指定一个</translation>
        </message>
        <message>
            <source>{project} belongs to the model {file}, which no longer exists: put the file back to open the project</source>
            <translation>{project} 属于模型 {file}，该文件已不存在：请放回文件再打开项目</translation>
        </message>
        <message>
            <source>this installation of Lathe has no {kind} back end, so it finds no such devices</source>
            <translation>这个 Lathe 没有安装 {kind} 后端，因此找不到此类设备</translation>
        </message>
        <message>
            <source>{stage}: {reason}</source>
            <translation>{stage}：{reason}</translation>
        </message>
        <message>
            <source>lower</source>
            <translation>降级</translation>
        </message>
        <message>
            <source>build</source>
            <translation>构建</translation>
        </message>
        <message>
            <source>load</source>
            <translation>加载</translation>
        </message>
        <message>
            <source>run</source>
            <translation>运行</translation>
        </message>
        <message>
            <source>verify</source>
            <translation>验证</translation>
        </message>
        <message>
            <source>transport</source>
            <translation>传输</translation>
        </message>
        <message>
            <source>not possible in a replay: {what}; open the project itself</source>
            <translation>回放中不能使用：{what}；请打开项目本身</translation>
        </message>
        <message>
            <source>budget</source>
            <translation>预算</translation>
        </message>
        <message>
            <source>time limit</source>
            <translation>时间限制</translation>
        </message>
        <message>
            <source>new measurement</source>
            <translation>重新测量</translation>
        </message>
        <message>
            <source>tuning log</source>
            <translation>调优日志</translation>
        </message>
        <message>
            <source>note</source>
            <translation>备注</translation>
        </message>
        <message>
            <source>export</source>
            <translation>导出</translation>
        </message>
        <message>
            <source>the speed {speed} is not between {least} and {most}</source>
            <translation>速度 {speed} 不在 {least} 和 {most} 之间</translation>
        </message>
        <message>
            <source>{seconds} s is outside the run</source>
            <translation>{seconds} 秒不在这次运行之内</translation>
        </message>
        <message>
            <source>the replay is already running</source>
            <translation>回放已在进行</translation>
        </message>
        <message>
            <source>{file} has no run to replay</source>
            <translation>{file} 中没有可回放的运行</translation>
        </message>
        <message>
            <source>{file} has no run {run}; the latest is run {latest}</source>
            <translation>{file} 中没有运行 {run}；最新的是运行 {latest}</translation>
        </message>
        <message>
            <source>{file} does not name the model of run {run}</source>
            <translation>{file} 没有说明运行 {run} 的模型</translation>
        </message>
        <message>
            <source>the network of {file} has no such task</source>
            <translation>{file} 的网络中没有这个任务</translation>
        </message>
        <message>
            <source>{file} has no valid record of it</source>
            <translation>{file} 中没有它的有效记录</translation>
        </message>
        <message>
            <source>the record {trial} no longer exists</source>
            <translation>记录 {trial} 已不存在</translation>
        </message>
        <message>
            <source>the import was stopped; {count:record|records} imported so far</source>
            <translation>导入已停止；已导入 {count} 条记录</translation>
        </message>
        <message>
            <source>a split has no length</source>
            <translation>有一个切分没有长度</translation>
        </message>
        <message>
            <source>no tuning logs given</source>
            <translation>没有给出调优日志</translation>
        </message>
        <message>
            <source>no trials given to measure again</source>
            <translation>没有给出要重新测量的试验</translation>
        </message>
        <message>
            <source>trial {trial} belongs to another network: open that network to measure it again</source>
            <translation>试验 {trial} 属于另一个网络：请打开那个网络再重新测量</translation>
        </message>
        <message>
            <source>trial {trial} was found for {target}, whose programs cannot run on {kind}: open the project for such a device to measure it</source>
            <translation>试验 {trial} 是为 {target} 找到的，{kind} 无法运行它的程序：请为那样的设备打开项目再测量</translation>
        </message>
        <message>
            <source>trial {trial} was made for target {target}: open the project for that target to measure it again</source>
            <translation>试验 {trial} 是为目标 {target} 生成的：请以该目标打开项目再重新测量</translation>
        </message>
        <message>
            <source>this version of Lathe does not offer the algorithm {alternative} for {task}</source>
            <translation>本版 Lathe 不为 {task} 提供算法 {alternative}</translation>
        </message>
        <message>
            <source>the number of measurements per trial must be from 1 to 1000, not {count}</source>
            <translation>每次试验的测量次数必须在 1 到 1000 之间，而不是 {count}</translation>
        </message>
        <message>
            <source>&apos;{text}&apos; is not a budget: write 20 min, until 18:00, 1000 trials, or until the last hour gained under 0.1 %</source>
            <translation>“{text}”不是预算：可写 20 min、until 18:00、1000 trials，或 until the last hour gained under 0.1 %</translation>
        </message>
        <message>
            <source>say how long to tune: 20 min, until 18:00, 1000 trials, or until the last hour gained under 0.1 %</source>
            <translation>请说明调优多久：20 min、until 18:00、1000 trials，或 until the last hour gained under 0.1 %</translation>
        </message>
        <message>
            <source>{device} computes its latencies by a model: none is measured, and the whole network is not timed</source>
            <translation>{device} 的延迟由模型计算：没有一项是实测值，也不对整个网络计时</translation>
        </message>
        <message>
            <source>{device} computes its latencies by a model, so the library was not timed on it</source>
            <translation>{device} 的延迟由模型计算，因此没有在其上对部署库计时</translation>
        </message>
        <message>
            <source>the network has no tasks to tune</source>
            <translation>网络中没有可调优的任务</translation>
        </message>
        <message>
            <source>&apos;{pass}&apos; is not a pass that can be skipped; these can: {passes}</source>
            <translation>“{pass}” 不是可以跳过的 pass；可以跳过的有：{passes}</translation>
        </message>
        <message>
            <source>&apos;{pass}&apos; cannot be skipped, because what it takes apart has no kernels; these can: {passes}</source>
            <translation>“{pass}” 不能跳过，因为它拆解的算子没有内核；可以跳过的有：{passes}</translation>
        </message>
        <message>
            <source>the builder received a network that cannot be parsed</source>
            <translation>构建进程收到的网络无法解析</translation>
        </message>
        <message>
            <source>the project&apos;s latest run was for other tasks: start a new one with --start-over</source>
            <translation>项目最近的运行面向别的任务：请用 --start-over 开始新的运行</translation>
        </message>
        <message>
            <source>the project&apos;s latest run was measured on {device}, not on the current device: resume it there, or start a new one with --start-over</source>
            <translation>项目最近的运行是在 {device} 上测量的，不是当前设备：请在那台设备上继续，或用 --start-over 重新开始</translation>
        </message>
        <message>
            <source>the project&apos;s latest run was measured with other cache sizes than the hardware has now: start a new one with --start-over</source>
            <translation>项目最近的运行测量时的缓存大小与现在的硬件不同：请用 --start-over 重新开始</translation>
        </message>
        <message>
            <source>stopped</source>
            <translation>已停止</translation>
        </message>
        <message>
            <source>there is nothing to resume without a project</source>
            <translation>没有项目，就没有可继续的运行</translation>
        </message>
        <message>
            <source>{file} has no run of this model and target to resume</source>
            <translation>{file} 中没有此模型和目标可继续的运行</translation>
        </message>
        <message>
            <source>the last {minutes:.4g} min gained {gain:.2g} %, less than {least:g} %</source>
            <translation>最近 {minutes:.4g} 分钟的收益为 {gain:.2g} %，低于 {least:g} %</translation>
        </message>
        <message>
            <source>no candidates left</source>
            <translation>已无候选程序</translation>
        </message>
        <message>
            <source>every task is muted, at its cap or without candidates left</source>
            <translation>每个任务都已静音、达到上限或已无候选程序</translation>
        </message>
        <message>
            <source>the run was interrupted here</source>
            <translation>运行在此中断</translation>
        </message>
        <message>
            <source>idle</source>
            <translation>空闲</translation>
        </message>
        <message>
            <source>starting</source>
            <translation>正在启动</translation>
        </message>
        <message>
            <source>running</source>
            <translation>运行中</translation>
        </message>
        <message>
            <source>pausing</source>
            <translation>正在暂停</translation>
        </message>
        <message>
            <source>paused</source>
            <translation>已暂停</translation>
        </message>
        <message>
            <source>stopping</source>
            <translation>正在停止</translation>
        </message>
        <message>
            <source>finished</source>
            <translation>已结束</translation>
        </message>
        <message>
            <source>failed</source>
            <translation>已失败</translation>
        </message>
        <message>
            <source>finals</source>
            <translation>决赛</translation>
        </message>
        <message>
            <source>reading earlier results: round {round} of {rounds}</source>
            <translation>正在读取之前的结果：第 {round} 轮，共 {rounds} 轮</translation>
        </message>
        <message>
            <source>the run&apos;s budget is used up: give it more (--time, --trials)</source>
            <translation>该运行的预算已用完：请增加预算（--time、--trials）</translation>
        </message>
        <message>
            <source>the run&apos;s budget is now {seconds:.0f} s and {trials:trial|trials} in all (0: no limit)</source>
            <translation>该运行的总预算现为 {seconds:.0f} s 和 {trials} 次试验（0：不限）</translation>
        </message>
        <message>
            <source>there is no run whose budget could be changed</source>
            <translation>没有可以修改预算的运行</translation>
        </message>
        <message>
            <source>not compared with the untuned network</source>
            <translation>没有与未调优的网络比较</translation>
        </message>
        <message>
            <source>{ratio:.2f} times as fast as untuned (95 % interval {low:.2f} to {high:.2f}, {pairs:pair|pairs} of runs): {ms:latency} ms instead of {untuned:latency} ms</source>
            <translation>速度是未调优时的 {ratio:.2f} 倍（95 % 置信区间 {low:.2f} 至 {high:.2f}，轮流计时 {pairs} 对）：{ms:latency} 毫秒，未调优时为 {untuned:latency} 毫秒</translation>
        </message>
        <message>
            <source>slower than untuned: {ratio:.2f} times the latency (95 % interval {low:.2f} to {high:.2f}, {pairs:pair|pairs} of runs): {ms:latency} ms instead of {untuned:latency} ms</source>
            <translation>比未调优时慢：延迟是其 {ratio:.2f} 倍（95 % 置信区间 {low:.2f} 至 {high:.2f}，轮流计时 {pairs} 对）：{ms:latency} 毫秒，未调优时为 {untuned:latency} 毫秒</translation>
        </message>
        <message>
            <source>not proven faster than untuned: {ratio:.2f} times as fast, but the 95 % interval, {low:.2f} to {high:.2f}, includes 1 ({pairs:pair|pairs} of runs): {ms:latency} ms, untuned {untuned:latency} ms</source>
            <translation>未能证明比未调优时快：速度是其 {ratio:.2f} 倍，但 95 % 置信区间 {low:.2f} 至 {high:.2f} 包含 1（轮流计时 {pairs} 对）：{ms:latency} 毫秒，未调优时为 {untuned:latency} 毫秒</translation>
        </message>
        <message>
            <source>not proven faster than untuned: {ratio:.2f} times as fast in {pairs:pair|pairs} of runs, but an interval needs {least}: {ms:latency} ms, untuned {untuned:latency} ms</source>
            <translation>未能证明比未调优时快：轮流计时 {pairs} 对，速度是其 {ratio:.2f} 倍，而得出置信区间需要 {least} 对：{ms:latency} 毫秒，未调优时为 {untuned:latency} 毫秒</translation>
        </message>
        <message>
            <source>networks for target {target} cannot be timed on this machine</source>
            <translation>目标 {target} 的网络不能在本机计时</translation>
        </message>
        <message>
            <source>{file} has no run of this model and target: tune it first</source>
            <translation>{file} 中没有该模型和目标的运行：请先调优</translation>
        </message>
        <message>
            <source>tasks with a valid record: all {tasks}</source>
            <translation>全部 {tasks} 个任务都有有效记录</translation>
        </message>
        <message>
            <source>tasks with a valid record: {covered} of {tasks}; an export needs default schedules for the others</source>
            <translation>{tasks} 个任务中有 {covered} 个有有效记录：导出时其余任务只能用默认调度</translation>
        </message>
        <message>
            <source>best records whose outputs were compared with the reference: {verified} of {covered}</source>
            <translation>{covered} 条最佳记录中有 {verified} 条的输出与参考结果比较过</translation>
        </message>
        <message>
            <source>the network took {measured:latency} ms in its last measurement, {percent:.1f} % of the sum of its parts: {sum:latency} ms (tasks {tasks:.3f}, chain {chain:+.3f}, untuned functions {untuned:.3f}, call {call:.3f})</source>
            <translation>最近一次测得网络延迟 {measured:latency} 毫秒，是各部分之和的 {percent:.1f} %：{sum:latency} 毫秒（任务 {tasks:.3f}，衔接 {chain:+.3f}，未调优函数 {untuned:.3f}，调用 {call:.3f}）</translation>
        </message>
        <message>
            <source>the network took {percent:.0f} % of the sum of its tasks in its last measurement</source>
            <translation>最近一次测得的网络延迟是各任务之和的 {percent:.0f} %</translation>
        </message>
        <message>
            <source>the network was not measured with all tasks tuned</source>
            <translation>没有在全部任务调优后测量整个网络</translation>
        </message>
        <message>
            <source>{percent:.1f} % of the trials failed</source>
            <translation>{percent:.1f} % 的试验失败</translation>
        </message>
        <message>
            <source>The machine was busy</source>
            <translation>机器繁忙</translation>
        </message>
        <message>
            <source>during the measurement other programs used {others:.0f} % and other virtual machines {stolen:.0f} % of the processor time ({processors:processor|processors})</source>
            <translation>测量期间，其他程序占用了 {others:.0f} % 的处理器时间，其他虚拟机占用了 {stolen:.0f} %（共 {processors} 个处理器）</translation>
        </message>
        <message>
            <source>Close other programs or wait until the machine is quiet, then measure again</source>
            <translation>请关闭其他正在运行的程序，或等机器空闲后重新测量</translation>
        </message>
        <message>
            <source>Gain not proven</source>
            <translation>加速未得到证明</translation>
        </message>
        <message>
            <source>Measure again on a quiet machine; if that changes nothing, tune longer</source>
            <translation>请在空闲的机器上重新测量；如果结果不变，请延长调优时间</translation>
        </message>
        <message>
            <source>Parts do not add up</source>
            <translation>各部分之和不符</translation>
        </message>
        <message>
            <source>the network took {measured:latency} ms, {percent:.0f} % more than the sum of its parts, {sum:latency} ms</source>
            <translation>网络延迟 {measured:latency} 毫秒，比各部分之和 {sum:latency} 毫秒 多 {percent:.0f} %</translation>
        </message>
        <message>
            <source>the network took {measured:latency} ms, {percent:.0f} % less than the sum of its parts, {sum:latency} ms</source>
            <translation>网络延迟 {measured:latency} 毫秒，比各部分之和 {sum:latency} 毫秒 少 {percent:.0f} %</translation>
        </message>
        <message>
            <source>Measure again: both were measured within one minute, so the machine&apos;s speed changed in between</source>
            <translation>请重新测量：两者是在同一分钟内测得的，说明机器的速度在此期间发生了变化</translation>
        </message>
        <message>
            <source>Processors slowed down</source>
            <translation>处理器降速</translation>
        </message>
        <message>
            <source>processors were throttled {count:time|times} because of heat during the measurement</source>
            <translation>测量期间，处理器因过热降频 {count} 次</translation>
        </message>
        <message>
            <source>the control group throttled the network for {held:.1f} s of the {seconds:.1f} s of its measurement: its CPU quota was used up</source>
            <translation>在测量的 {seconds:.1f} s 中，控制组限制了网络 {held:.1f} s：CPU 配额已用完</translation>
        </message>
        <message>
            <source>processors ran at {mhz:.0f} MHz; their maximum is {most:.0f} MHz</source>
            <translation>处理器运行在 {mhz:.0f} MHz，而最高频率为 {most:.0f} MHz</translation>
        </message>
        <message>
            <source>Let the machine cool down, plug it in, raise the quota or choose the governor &quot;performance&quot;, then measure again</source>
            <translation>请让机器降温、接通电源、提高配额，或选择 &quot;performance&quot; 调频策略，然后重新测量</translation>
        </message>
        <message>
            <source>The machine was unsteady</source>
            <translation>机器状态不稳定</translation>
        </message>
        <message>
            <source>the control kernel, always the same work, took {times:.1f} times as long in its slowest run as in its fastest</source>
            <translation>对照内核的工作量始终不变，最慢一次的耗时却是最快一次的 {times:.1f} 倍</translation>
        </message>
        <message>
            <source>Another program or virtual machine interferes from time to time: wait for a quieter moment, then measure again</source>
            <translation>有其他程序或虚拟机时断时续地干扰：请等到平稳时重新测量</translation>
        </message>
        <message>
            <source>Tasks not searched</source>
            <translation>有任务未搜索</translation>
        </message>
        <message>
            <source>{count} of {tasks} tasks had at most one round; they take {percent:.0f} % of the tasks&apos; time, most of it {task}</source>
            <translation>{tasks} 个任务中有 {count} 个最多只进行了一轮；它们占任务总耗时的 {percent:.0f} %，其中最多的是 {task}</translation>
        </message>
        <message>
            <source>Resume the run with more time</source>
            <translation>请给更多时间继续运行</translation>
        </message>
        <message>
            <source>One task dominates</source>
            <translation>一个任务占大部分</translation>
        </message>
        <message>
            <source>{task} takes {percent:.0f} % of the tasks&apos; time</source>
            <translation>{task} 占任务总耗时的 {percent:.0f} %</translation>
        </message>
        <message>
            <source>Pin or boost it in the Tasks table so that it gets most of the trials</source>
            <translation>请在任务表中固定或加权该任务，使它得到大部分试验</translation>
        </message>
        <message>
            <source>Memory-bound</source>
            <translation>受内存限制</translation>
        </message>
        <message>
            <source>memory limits {count:task, which takes|tasks, which take} {percent:.0f} % of the tasks&apos; time</source>
            <translation>有 {count} 个任务受内存限制，占任务总耗时的 {percent:.0f} %</translation>
        </message>
        <message>
            <source>More trials gain little here; a smaller type (int8, half floats) or a larger batch does</source>
            <translation>更多试验收效不大：请改用更小的数据类型（int8、半精度）或更大的批量</translation>
        </message>
        <message>
            <source>Functions slow each other down</source>
            <translation>函数之间相互拖慢</translation>
        </message>
        <message>
            <source>functions that run one after another take longer than alone, by {percent:.0f} % of the network&apos;s time ({chain:.3f} ms)</source>
            <translation>函数依次运行时比单独运行多用了网络耗时的 {percent:.0f} %（{chain:.3f} 毫秒）</translation>
        </message>
        <message>
            <source>Tune with --cache network (the default), so that tasks find the caches as the network leaves them</source>
            <translation>请用 --cache network（默认）调优，使任务在网络留下的缓存状态下计时</translation>
        </message>
        <message>
            <source>Many small functions</source>
            <translation>小函数过多</translation>
        </message>
        <message>
            <source>functions under {micros:.0f} µs: {count}, together {percent:.0f} % of the network&apos;s time</source>
            <translation>不到 {micros:.0f} 微秒的函数有 {count} 个，共占网络耗时的 {percent:.0f} %</translation>
        </message>
        <message>
            <source>Waking the threads takes as long as such a function: try fewer threads, or a larger batch</source>
            <translation>唤醒线程所需的时间与这样的函数相当：请尝试更少的线程或更大的批次</translation>
        </message>
        <message>
            <source>Starting a kernel on the device takes as long as such a function: try a larger batch</source>
            <translation>在设备上启动内核所需的时间与这样的函数相当：请尝试更大的批次</translation>
        </message>
        <message>
            <source>&apos;{file}&apos; has no code for devices of kind &quot;{kind}&quot;, as &quot;{device}&quot; is one</source>
            <translation>“{file}”没有用于“{kind}”类设备（如“{device}”）的代码</translation>
        </message>
        <message>
            <source>Fewer threads than processors</source>
            <translation>线程少于处理器</translation>
        </message>
        <message>
            <source>the target uses {threads:thread|threads}, and this machine has {processors:processor|processors}</source>
            <translation>目标使用 {threads} 个线程，而本机有 {processors} 个处理器</translation>
        </message>
        <message>
            <source>Tune for the target cpu without -threads, unless the network is to share the machine</source>
            <translation>除非网络要与其他程序共用机器，请改用不带 -threads 的目标 cpu 调优</translation>
        </message>
        <message>
            <source>time limit of a candidate: {seconds} s from now on</source>
            <translation>候选程序的时间上限：从现在起 {seconds} 秒</translation>
        </message>
        <message>
            <source>measuring the device&apos;s limits: {reason}</source>
            <translation>测量设备的极限：{reason}</translation>
        </message>
        <message>
            <source>measuring the whole network: {reason}</source>
            <translation>测量整个网络：{reason}</translation>
        </message>
        <message>
            <source>timing the tuned and the untuned network in turn: {reason}</source>
            <translation>轮流计时调优和未调优的网络：{reason}</translation>
        </message>
        <message>
            <source>the untuned network was not measured: it would take more than {percent:.0f} % of the run&apos;s time</source>
            <translation>没有测量未调优的网络：它会占用运行时间的 {percent:.0f} % 以上</translation>
        </message>
        <message>
            <source>the installed head start is not used: {reason}</source>
            <translation>没有使用已安装的热启动文件：{reason}</translation>
        </message>
        <message>
            <source>head start {name}: no similar tasks; the cost model starts with {trials:trial|trials} of other tasks</source>
            <translation>热启动文件 {name}：没有相似的任务；代价模型从其他任务的 {trials} 次试验开始</translation>
        </message>
        <message>
            <source>head start {name}: {tasks} of {all} tasks start with candidates of similar tasks, the cost model with {trials:trial|trials}</source>
            <translation>热启动文件 {name}：{all} 个任务中有 {tasks} 个从相似任务的候选程序开始，代价模型从 {trials} 次试验开始</translation>
        </message>
        <message>
            <source>the run started with a head start that this build cannot use ({reason}): start a new one with --start-over</source>
            <translation>这次运行开始时用的热启动文件本版无法使用（{reason}）：请用 --start-over 开始新的运行</translation>
        </message>
        <message>
            <source>the run started with the head start {file}, which has changed or no longer exists: start a new one with --start-over</source>
            <translation>这次运行开始时用的热启动文件 {file} 已更改或不存在：请用 --start-over 开始新的运行</translation>
        </message>
        <message>
            <source>the export was cancelled</source>
            <translation>导出已取消</translation>
        </message>
        <message>
            <source>a library for {machine} cannot run on this machine: skip the comparison and the benchmark (--no-verify --no-bench)</source>
            <translation>面向 {machine} 的库不能在本机运行：请跳过比较和基准测试（--no-verify --no-bench）</translation>
        </message>
        <message>
            <source>the trial belongs to another network: open that network to see its program</source>
            <translation>这次试验属于另一个网络：请打开那个网络查看它的程序</translation>
        </message>
        <message>
            <source>this version of Lathe does not offer the algorithm {alternative} for that task</source>
            <translation>本版 Lathe 不为该任务提供算法 {alternative}</translation>
        </message>
        <message>
            <source>the target {target} has no such listing</source>
            <translation>目标 {target} 没有这种清单</translation>
        </message>
        <message>
            <source>the export was stopped</source>
            <translation>导出已停止</translation>
        </message>
        <message>
            <source>cannot write {file}: {reason}</source>
            <translation>无法写入 {file}：{reason}</translation>
        </message>
        <message>
            <source>{file} has no model</source>
            <translation>{file} 中没有模型</translation>
        </message>
        <message>
            <source>{file} has no run {run} (of that model and time)</source>
            <translation>{file} 中没有（该模型和时间的）运行 {run}</translation>
        </message>
        <message>
            <source>{file} has no model {model}</source>
            <translation>{file} 中没有模型 {model}</translation>
        </message>
        <message>
            <source>&apos;{text}&apos; is not a project file</source>
            <translation>“{text}”不是项目文件</translation>
        </message>
        <message>
            <source>the device of target &apos;{target}&apos; has no measured limits to compare tasks with</source>
            <translation>目标“{target}”的设备没有可与任务比较的实测极限</translation>
        </message>
        <message>
            <source>--head-start is for policy {policy}, not for policy {other}</source>
            <translation>--head-start 用于 {policy} 策略，不能用于 {other} 策略</translation>
        </message>
        <message>
            <source>policy {policy} does not support target {target}; these do: {policies}</source>
            <translation>策略 {policy} 不支持目标 {target}；支持的有：{policies}</translation>
        </message>
        <message>
            <source>pass {pass}</source>
            <translation>遍 {pass}</translation>
        </message>
        <message>
            <source>the project&apos;s {part} cannot be read: {reason}</source>
            <translation>无法读取项目的 {part}：{reason}</translation>
        </message>
        <message>
            <source>the output &quot;{output}&quot; is already a softmax: no second one was appended</source>
            <translation>输出“{output}”已经是 softmax：没有再追加</translation>
        </message>
        <message>
            <source>--softmax needs one float output, or float outputs of two dimensions: the network has none</source>
            <translation>--softmax 需要一个浮点输出，或若干二维浮点输出：该网络没有</translation>
        </message>
        <message>
            <source>{task} has no alternative {alternative}</source>
            <translation>{task} 没有算法 {alternative}</translation>
        </message>
        <message>
            <source>the model leaves dimensions open: {dimensions}; set each with --dim NAME=N</source>
            <translation>模型有未确定的维度：{dimensions}；请用 --dim 名称=N 逐一设定</translation>
        </message>
        <message>
            <source>{name} (dimension {dimension} of input &quot;{input}&quot;)</source>
            <translation>{name}（输入“{input}”的维度 {dimension}）</translation>
        </message>
        <message>
            <source>{name} (dimension {dimension} of input &quot;{input}&quot;, and elsewhere)</source>
            <translation>{name}（输入“{input}”的维度 {dimension} 等处）</translation>
        </message>
        <message>
            <source>the shape of input &quot;{input}&quot; (--shape)</source>
            <translation>输入“{input}”的形状（--shape）</translation>
        </message>
        <message>
            <source>the model has no open dimension &quot;{name}&quot;; it has {names}</source>
            <translation>模型没有名为“{name}”的未定维度；未定的有 {names}</translation>
        </message>
        <message>
            <source>the model has no open dimension &quot;{name}&quot;: all its sizes are fixed</source>
            <translation>模型没有名为“{name}”的未定维度：其尺寸全部固定</translation>
        </message>
        <message>
            <source>dimension {name} is set both to {size} and to {other}</source>
            <translation>维度 {name} 同时被设为 {size} 和 {other}</translation>
        </message>
        <message>
            <source>input sizes as last time in this project: {sizes}</source>
            <translation>输入尺寸沿用本项目上次的值：{sizes}</translation>
        </message>
        <message>
            <source>--shape and --dim are for model files: networks of the zoo have fixed shapes, but take --batch</source>
            <translation>--shape 和 --dim 用于模型文件：内置网络的形状固定，但可用 --batch</translation>
        </message>
        <message>
            <source>attribute equation has {named:operand|operands}, but the node has {given}</source>
            <translation>属性 equation 有 {named} 个操作数，但节点有 {given} 个</translation>
        </message>
        <message>
            <source>attribute equation gives operand {operand} {named:dimension|dimensions}, but it has {given}</source>
            <translation>属性 equation 给操作数 {operand} 指定了 {named} 维，但它有 {given} 维</translation>
        </message>
        <message>
            <source>the result in attribute equation repeats a label, or has one that no operand has</source>
            <translation>属性 equation 在结果中重复或新造了标号</translation>
        </message>
        <message>
            <source>attributes output_padding and output_shape must have {wanted:entry|entries}, one for each spatial dimension</source>
            <translation>属性 output_padding 和 output_shape 必须有 {wanted} 项，每个空间维一项</translation>
        </message>
        <message>
            <source>attribute output_padding is out of range</source>
            <translation>属性 output_padding 超出范围</translation>
        </message>
        <message>
            <source>attribute kernel_shape must have {wanted:positive entry|positive entries} of at most 2^20</source>
            <translation>属性 kernel_shape 必须有 {wanted} 个不大于 2^20 的正数</translation>
        </message>
        <message>
            <source>the cache and the update must have the same number of dimensions, and attribute axis must not be the first</source>
            <translation>缓存和更新的维数必须相同，且属性 axis 必须在第一维之后</translation>
        </message>
        <message>
            <source>the depth must be one positive number</source>
            <translation>深度必须是一个正数</translation>
        </message>
        <message>
            <source>attribute axis is out of range for the result</source>
            <translation>属性 axis 在结果的维数之外</translation>
        </message>
        <message>
            <source>the batch axis and the time axis must be 0 and 1, in either order</source>
            <translation>批量轴和时间轴必须是 0 和 1，次序不限</translation>
        </message>
        <message>
            <source>input {input} must have one value per channel, {channels} in all</source>
            <translation>输入 {input} 必须给 {channels} 个通道各一个值</translation>
        </message>
        <message>
            <source>attribute axes names axis {axis}, but the input has {count:dimension|dimensions}</source>
            <translation>属性 axes 指定了轴 {axis}，但输入只有 {count} 维</translation>
        </message>
        <message>
            <source>the scale {scale} of an axis with {count:entry|entries} is out of range</source>
            <translation>有 {count} 个元素的轴，其缩放比例 {scale} 超出范围</translation>
        </message>
        <message>
            <source>{sizes:size|sizes} given for {axes:axis|axes}</source>
            <translation>{axes} 个轴给出了 {sizes} 个大小</translation>
        </message>
        <message>
            <source>axis {axis} cannot get {size:entry|entries}</source>
            <translation>轴 {axis} 不能有 {size} 个元素</translation>
        </message>
        <message>
            <source>the shape has too many dimensions: {count}</source>
            <translation>形状有 {count} 维，太多了</translation>
        </message>
        <message>
            <source>with attribute allowzero, only a tensor without elements can get a shape that contains a 0</source>
            <translation>使用属性 allowzero 时，只有没有元素的张量才能得到含 0 的形状</translation>
        </message>
        <message>
            <source>{repeats:repeat|repeats} given for {count:dimension|dimensions}</source>
            <translation>{count} 维给出了 {repeats} 个重复次数</translation>
        </message>
        <message>
            <source>the number of repeats {repeats} is out of range</source>
            <translation>某个轴的重复次数 {repeats} 超出范围</translation>
        </message>
        <message>
            <source>the input must be an image, attribute blocksize positive, and attribute mode DCR or CRD</source>
            <translation>输入必须是图像，属性 blocksize 必须为正，属性 mode 必须是 DCR 或 CRD</translation>
        </message>
        <message>
            <source>the input must not be empty</source>
            <translation>输入不能为空</translation>
        </message>
        <message>
            <source>blocksize {block} does not divide the input&apos;s shape {shape}</source>
            <translation>blocksize {block} 不能整除输入的形状 {shape}</translation>
        </message>
        <message>
            <source>attribute num_outputs is {said}, but the node has {given:output|outputs}</source>
            <translation>属性 num_outputs 是 {said}，但节点有 {given} 个输出</translation>
        </message>
        <message>
            <source>the sizes {sizes} do not add up to the {count:entry|entries} of the axis</source>
            <translation>大小 {sizes} 之和不等于该轴的 {count} 个元素</translation>
        </message>
        <message>
            <source>the padding value must be a scalar</source>
            <translation>填充值必须是标量</translation>
        </message>
        <message>
            <source>{pads:padding amount|padding amounts} given for {count:dimension|dimensions}</source>
            <translation>{count} 维给出了 {pads} 个填充量</translation>
        </message>
        <message>
            <source>axis {axis} is out of range for the input</source>
            <translation>轴 {axis} 在输入的维数之外</translation>
        </message>
        <message>
            <source>the constant has no value</source>
            <translation>该常量没有值</translation>
        </message>
        <message>
            <source>attribute value must hold one element</source>
            <translation>属性 value 必须只有一个元素</translation>
        </message>
        <message>
            <source>the shape {shape} has a negative dimension or more than {most} elements</source>
            <translation>形状 {shape} 有负的维或多于 {most} 个元素</translation>
        </message>
        <message>
            <source>start, limit and delta must be scalars</source>
            <translation>start、limit 和 delta 必须是标量</translation>
        </message>
        <message>
            <source>the range from {start} to {limit} by {delta} has no end or too many elements</source>
            <translation>从 {start} 到 {limit}、步长 {delta} 的范围没有尽头，或元素太多</translation>
        </message>
        <message>
            <source>ONNX cannot express a batch norm of a vector</source>
            <translation>ONNX 无法表示向量的批量归一化</translation>
        </message>
        <message>
            <source>there are fewer elements than a block takes</source>
            <translation>元素少于一个线程块所取的数量</translation>
        </message>
        <message>
            <source>a row does not fit in shared memory</source>
            <translation>一行放不进共享内存</translation>
        </message>
        <message>
            <source>&apos;{alternative}&apos; does not work by rows</source>
            <translation>“{alternative}”不按行计算</translation>
        </message>
        <message>
            <source>&apos;{alternative}&apos; has no sum for the form {form}</source>
            <translation>“{alternative}”没有适合形式 {form} 的求和</translation>
        </message>
        <message>
            <source>the points of a tile do not fit in a thread&apos;s registers</source>
            <translation>一个分块的点放不进线程的寄存器</translation>
        </message>
        <message>
            <source>a thread has fewer steps than are written out</source>
            <translation>线程的步数少于展开的步数</translation>
        </message>
        <message>
            <source>programs for the target {target} have no form &apos;{form}&apos;: use one of {forms}</source>
            <translation>目标 {target} 的程序没有“{form}”这种形式：请使用 {forms} 之一</translation>
        </message>
        <message>
            <source>Most candidates rejected</source>
            <translation>大多数候选被拒绝</translation>
        </message>
        <message>
            <source>{rejected} of {candidates:candidate was|candidates were} rejected before building: more threads or memory than the device has</source>
            <translation>{candidates} 个候选中有 {rejected} 个在构建之前被拒绝：所需线程或内存超过设备所能提供的</translation>
        </message>
        <message>
            <source>If trials are too few, give the run more time, or check the device&apos;s limits on the Devices page</source>
            <translation>如果试验太少，请给运行更多时间，或在“设备”页检查该设备的限制</translation>
        </message>
        <message>
            <source>round {round}: {candidates:candidate was|candidates were} rejected before building: more threads or memory than the device has</source>
            <translation>第 {round} 轮：{candidates} 个候选在构建之前被拒绝：所需线程或内存超过设备所能提供的</translation>
        </message>
        <message>
            <source>a runner has no use for a message of this kind</source>
            <translation>运行器不接受这类消息</translation>
        </message>
        <message>
            <source>more than {most:job|jobs} wait for this device</source>
            <translation>在此设备上等待的作业超过 {most} 个</translation>
        </message>
        <message>
            <source>no device offers itself under the key {key} at {url}; the keys there: {keys}</source>
            <translation>{url} 上没有设备以 {key} 为键提供服务；那里的键有：{keys}</translation>
        </message>
        <message>
            <source>no device offers itself at {url}: where the device is, start lathe-runner with that address and --key {key}</source>
            <translation>{url} 上没有任何设备：请在设备所在处用该地址和 --key {key} 启动 lathe-runner</translation>
        </message>
        <message>
            <source>{device} has no device of kind {kind}; it has: {kinds}</source>
            <translation>{device} 没有 {kind} 类型的设备；它有：{kinds}</translation>
        </message>
        <message>
            <source>{device} is left out: {reason}</source>
            <translation>{device} 未被使用：{reason}</translation>
        </message>
        <message>
            <source>its latencies cannot be compared with those of the run&apos;s other devices ({theirs}, this one is {its})</source>
            <translation>它的延迟无法与本次运行的其他设备相比（其他为 {theirs}，它为 {its}）</translation>
        </message>
        <message>
            <source>Waiting for a device of {key}: {there:device is|devices are} there, {before:program waits|programs wait} before this one</source>
            <translation>正在等待 {key} 的设备：共有 {there} 台，前面有 {before} 个程序在等待</translation>
        </message>
        <message>
            <source>Waiting for a device of {key}: there is none at the moment</source>
            <translation>正在等待 {key} 的设备：目前一台也没有</translation>
        </message>
        <message>
            <source>{device} measures for this run</source>
            <translation>{device} 开始为本次运行测量</translation>
        </message>
        <message>
            <source>{device} no longer measures for this run: {reason}</source>
            <translation>{device} 不再为本次运行测量：{reason}</translation>
        </message>
        <message>
            <source>nothing was heard of it for {seconds:g} s</source>
            <translation>已有 {seconds:g} 秒没有它的消息</translation>
        </message>
        <message>
            <source>The broker at {url} does not answer; the run waits for it</source>
            <translation>位于 {url} 的代理没有应答；运行正在等待它</translation>
        </message>
        <message>
            <source>The broker at {url} answers again</source>
            <translation>位于 {url} 的代理恢复应答</translation>
        </message>
        <message>
            <source>a run measures on devices of one key at a broker: {first} or {second}, not both</source>
            <translation>一次运行只在代理上同一个键的设备上测量：{first} 或 {second}，不能两者都用</translation>
        </message>
        <message>
            <source>a run with --broker needs the key of its devices: --device KEY</source>
            <translation>使用 --broker 的运行需要设备的键：--device KEY</translation>
        </message>
        <message>
            <source>{file} is not a token made by lathe-cli tracker: {reason}</source>
            <translation>{file} 不是 lathe-cli tracker 生成的令牌：{reason}</translation>
        </message>
        <message>
            <source>{file} is for {role}, and this needs one for {wanted}</source>
            <translation>{file} 属于{role}，而这里需要{wanted}的令牌</translation>
        </message>
        <message>
            <source>{file} is for devices of the key {its}, not {key}</source>
            <translation>{file} 用于键为 {its} 的设备，而不是 {key}</translation>
        </message>
        <message>
            <source>a runner</source>
            <translation>运行器</translation>
        </message>
        <message>
            <source>a user</source>
            <translation>用户</translation>
        </message>
        <message>
            <source>an observer</source>
            <translation>观察者</translation>
        </message>
        <message>
            <source>it has no {member}</source>
            <translation>其中没有 {member}</translation>
        </message>
        <message>
            <source>the program nats-server is missing: install the package {package}</source>
            <translation>缺少程序 nats-server：请安装软件包 {package}</translation>
        </message>
        <message>
            <source>nats-server ended: {cause}</source>
            <translation>nats-server 已结束：{cause}</translation>
        </message>
        <message>
            <source>nats-server does not answer at {address}</source>
            <translation>nats-server 在 {address} 没有应答</translation>
        </message>
        <message>
            <source>a tracker runs with {folder} already</source>
            <translation>已有一个 tracker 在使用 {folder}</translation>
        </message>
        <message>
            <source>{host} is reached by other machines, and nobody has a token yet: make the first with lathe-cli tracker token</source>
            <translation>其他机器可以访问 {host}，但还没有人持有令牌：请先用 lathe-cli tracker token 生成第一个</translation>
        </message>
        <message>
            <source>no certificate can be made: {reason}</source>
            <translation>无法生成证书：{reason}</translation>
        </message>
        <message>
            <source>{name} has a token already: take it back first with lathe-cli tracker revoke</source>
            <translation>{name} 已有令牌：请先用 lathe-cli tracker revoke 收回</translation>
        </message>
        <message>
            <source>nobody has a token under the name {name}</source>
            <translation>没有名为 {name} 的令牌</translation>
        </message>
        <message>
            <source>&quot;{text}&quot; is not an address: write HOST:PORT</source>
            <translation>“{text}”不是地址：请写成 主机:端口</translation>
        </message>
        <message>
            <source>{file} does not say who has a token: {reason}</source>
            <translation>{file} 没有说明谁持有令牌：{reason}</translation>
        </message>
        <message>
            <source>another runner of this machine is called {name} already: give this one another name with --name</source>
            <translation>本机已有一个名为 {name} 的运行器：请用 --name 给它另取一个名字</translation>
        </message>
        <message>
            <source>this machine has no device to offer: {reason}</source>
            <translation>本机没有可提供的设备：{reason}</translation>
        </message>
        <message>
            <source>the library {file} has {bytes} bytes, and at most {most} can be sent to a device</source>
            <translation>库 {file} 有 {bytes} 字节，最多只能向设备发送 {most} 字节</translation>
        </message>
        <message>
            <source>it takes {ratio:.2f} times as long as the other devices of {key} for the same program</source>
            <translation>它运行同一程序的时间是 {key} 其他设备的 {ratio:.2f} 倍</translation>
        </message>
        <message>
            <source>{device} is not steady: the program that checks it takes {percent:.1f} % more or less time from one time to the next, so trials are measured again only beyond {limit:.1f} %</source>
            <translation>{device} 不稳定：检查它的程序每次的用时相差 {percent:.1f} %，因此仅在相差超过 {limit:.1f} % 时才重新测量</translation>
        </message>
        <message>
            <source>it was lost {times} times in a row while it was checked: {reason}</source>
            <translation>检查时它连续 {times} 次失去联系：{reason}</translation>
        </message>
        <message>
            <source>{project} has no trials of a device {device}</source>
            <translation>{project} 中没有设备 {device} 的试验</translation>
        </message>
        <message>
            <source>{device} takes {ratio:.2f} times as long as {other} for the same program: with fewer than three devices of {key} nobody can say which of them strays</source>
            <translation>{device} 运行同一程序的时间是 {other} 的 {ratio:.2f} 倍：{key} 的设备少于三台，无法判断是哪一台偏离</translation>
        </message>
        <message>
            <source>{trials:trial|trials} of {device} are measured again: the program that checks the device took {percent:.1f} % more or less time afterwards than before</source>
            <translation>重新测量 {device} 上的 {trials} 次试验：检查设备的程序在其后与其前的用时相差 {percent:.1f} %</translation>
        </message>
        <message>
            <source>the program that checks devices does not run on {device}: {reason}</source>
            <translation>检查设备的程序无法在 {device} 上运行：{reason}</translation>
        </message>
        <message>
            <source>the device stayed hotter than {limit:g} °C for {seconds:g} s</source>
            <translation>设备温度高于 {limit:g} °C 已达 {seconds:g} 秒</translation>
        </message>
        <message>
            <source>no device {device} is heard of at {url}; those that are: {devices}</source>
            <translation>在 {url} 没有听到设备 {device}；听到的有：{devices}</translation>
        </message>
        <message>
            <source>{device} has not done within {seconds:g} s what it was told: it may run an earlier version, or the broker may not let it hear orders</source>
            <translation>{device} 在 {seconds:g} 秒内没有执行命令：它可能是较早的版本，或代理不让它接收命令</translation>
        </message>
        <message>
            <source>&quot;{name}&quot; is neither a file with hardware parameters nor a key under which a device offers itself at {url}</source>
            <translation>“{name}”既不是硬件参数文件，也不是 {url} 上任何设备的键</translation>
        </message>
        <message>
            <source>{host} is reached by other machines, and this protocol knows no keys: whoever reaches it could offer devices and take them; --compat-anybody says that this is wanted</source>
            <translation>其他机器可以访问 {host}，而此协议没有密钥：任何人都能提供或取走设备；若确实需要，请加 --compat-anybody</translation>
        </message>
        <message>
            <source>cannot listen at {address}: {reason}</source>
            <translation>无法在 {address} 监听：{reason}</translation>
        </message>
        <message>
            <source>no tracker of this machine has the address {url}: make the token where it runs, with lathe-cli tracker token --runner {key}</source>
            <translation>本机没有地址为 {url} 的跟踪器：请在其所在机器上用 lathe-cli tracker token --runner {key} 生成令牌</translation>
        </message>
        <message>
            <source>{part} is not {wanted}</source>
            <translation>{part} 不是 {wanted}</translation>
        </message>
        <message>
            <source>there is no template {template}</source>
            <translation>没有名为 {template} 的模板</translation>
        </message>
        <message>
            <source>the configuration space has no knob {knob}</source>
            <translation>配置空间中没有参数 {knob}</translation>
        </message>
        <message>
            <source>the configuration has no value for the knob {knob}</source>
            <translation>该配置没有给出参数 {knob} 的值</translation>
        </message>
        <message>
            <source>{value} is not among the choices of the knob {knob}</source>
            <translation>{value} 不是参数 {knob} 的可选值</translation>
        </message>
        <message>
            <source>there is no configuration {index}: the space has {size}</source>
            <translation>没有编号为 {index} 的配置：该空间共有 {size} 个配置</translation>
        </message>
        <message>
            <source>template tuner's log of version {version}; version 0.2 is supported</source>
            <translation>模板调优器日志的版本为 {version}；支持的版本为 0.2</translation>
        </message>
    <message>
        <source>tuner '{tuner}' is not one of {tuners}</source>
        <translation>调优器“{tuner}”不在其中：{tuners}</translation>
    </message>
    <message>
        <source>'{setting}' is not a setting of the tuner {tuner}: write NAME=VALUE, where NAME is one of: {names}</source>
        <translation>“{setting}”不是调优器 {tuner} 的设置：请写 NAME=VALUE，NAME 为其中之一：{names}</translation>
    </message>
    <message>
        <source>the tuner's {name} is {value}, it must be from {low:g} to {high:g}, and whole where it counts something</source>
        <translation>调优器的 {name} 为 {value}，必须在 {low:g} 到 {high:g} 之间，计数时须为整数</translation>
    </message>
    <message>
        <source>{buffer} has {bytes} bytes, the device gives at most {most} at once{limit:-}</source>
        <translation>{buffer} 有 {bytes} 字节，设备一次最多分配 {most} 字节</translation>
    </message>
    <message>
        <source>there are no templates for {target}</source>
        <translation>没有用于 {target} 的模板</translation>
    </message>
    <message>
        <source>no task of the network has one of the operators {asked}: there are {known}</source>
        <translation>网络中没有任务包含算子 {asked}：现有 {known}</translation>
    </message>
    <message>
        <source>there is no task {id}: the network's tasks are 0 to {last}</source>
        <translation>没有任务 {id}：网络的任务为 0 到 {last}</translation>
    </message>
    <message>
        <source>configuration that does not fit {task}: {reason}</source>
        <translation>配置不适用于 {task}：{reason}</translation>
    </message>
    <message>
        <source>template {template}, which this version cannot turn into code</source>
        <translation>模板 {template}，此版本无法将其转换为代码</translation>
    </message>
    <message>
        <source>layouts were chosen for the whole network: {ms:.3f} ms, of which {count} conversions take {conversionsMs:.3f} ms; with the fastest kernel of each task it would be {beforeMs:.3f} ms</source>
        <translation>已为整个网络选择布局：{ms:.3f} 毫秒，其中 {count} 个转换占 {conversionsMs:.3f} 毫秒；若每个任务都用最快的内核则为 {beforeMs:.3f} 毫秒</translation>
    </message>
    <message>
        <source>an exact choice of layouts has more than {states} states to look at; --graph-tuner pbqp finds a good one</source>
        <translation>精确选择布局需要查看超过 {states} 个状态；--graph-tuner pbqp 可找到较好的方案</translation>
    </message>
    <message>
        <source>{file} is damaged: {reason}</source>
        <translation>{file} 已损坏：{reason}</translation>
    </message>
    <message>
        <source>{file} is a package of version {version}; this version of Lathe reads version {known}</source>
        <translation>{file} 是版本 {version} 的包；此版本的 Lathe 读取版本 {known}</translation>
    </message>
    <message>
        <source>{file} is for {there}, not for {here}</source>
        <translation>{file} 用于 {there}，而不是 {here}</translation>
    </message>
    <message>
        <source>it was measured on {device}</source>
        <translation>它是在 {device} 上测量的</translation>
    </message>
    <message>
        <source>{plan}; the times of {count:conversion|conversions} are estimates</source>
        <translation>{plan}；其中 {count} 个转换的时间是估计值</translation>
    </message>
    <message>
        <source>every choice of layouts needs a conversion that cannot be done</source>
        <translation>每种布局选择都需要一个无法完成的转换</translation>
    </message>
    <message>
        <source>no choice of layouts was found whose conversions can all be done</source>
        <translation>没有找到其转换都能完成的布局选择</translation>
    </message>
    <message>
        <source>none of the {count} configurations that were tried last can run here: {reason}</source>
        <translation>最近尝试的 {count} 个配置都不能在这里运行：{reason}</translation>
    </message>
    <message>
        <source>the template computes convolutions over all channels</source>
        <translation>该模板计算跨所有通道的卷积</translation>
    </message>
    <message>
        <source>the template computes depthwise convolutions</source>
        <translation>该模板计算深度卷积</translation>
    </message>
    <message>
        <source>the template computes dense operators</source>
        <translation>该模板计算全连接算子</translation>
    </message>
    <message>
        <source>the template computes winograd convolutions</source>
        <translation>该模板计算 winograd 卷积</translation>
    </message>
    <message>
        <source>the template is for another operator</source>
        <translation>该模板用于另一种算子</translation>
    </message>
    <message>
        <source>the configuration has no split {knob} into {count} sizes</source>
        <translation>配置没有把 {knob} 分成 {count} 个大小的拆分</translation>
    </message>
    <message>
        <source>{knob} has the size {size}, which no loop can have</source>
        <translation>{knob} 的大小为 {size}，没有循环可以是这个大小</translation>
    </message>
    <message>
        <source>{knob} has blocks of {block}, which do not divide {extent}</source>
        <translation>{knob} 的块大小为 {block}，不能整除 {extent}</translation>
    </message>
    <message>
        <source>{knob} may split blocks alone, since different matrices share no work</source>
        <translation>{knob} 只能拆分块，因为不同的矩阵没有共享的计算</translation>
    </message>
    <message>
        <source>a block of the products has {size} rows or columns, which is more than the template can compute</source>
        <translation>乘积的一个块有 {size} 行或列，超出该模板的能力</translation>
    </message>
    <message>
        <source>the configuration has no value for the knob {knob} that a record can hold</source>
        <translation>配置中的 {knob} 没有记录可以保存的值</translation>
    </message>
    <message>
        <source>{name} is the name of a built-in template</source>
        <translation>{name} 是内置模板的名称</translation>
    </message>
    <message>
        <source>the task has no alternative {name}</source>
        <translation>该任务没有备选 {name}</translation>
    </message>
    <message>
        <source>the kernel is not a winograd convolution with elementwise operators after it</source>
        <translation>该内核不是后接逐元素算子的 winograd 卷积</translation>
    </message>
    <message>
        <source>there is no loop {loop}: {axis} is not split into that many parts</source>
        <translation>没有循环 {loop}：{axis} 没有分成那么多部分</translation>
    </message>
    <message>
        <source>{axis} is split twice</source>
        <translation>{axis} 被拆分了两次</translation>
    </message>
    <message>
        <source>the order has {given} loops, the sum has {wanted}</source>
        <translation>顺序中有 {given} 个循环，而求和有 {wanted} 个</translation>
    </message>
    <message>
        <source>the weight does not depend on {axis}</source>
        <translation>权重不依赖于 {axis}</translation>
    </message>
    <message>
        <source>there is no verified record to put into a package</source>
        <translation>没有可放入包中的已验证记录</translation>
    </message>
    <message>
        <source>{file}: {part}: {reason}</source>
        <translation>{file}：{part}：{reason}</translation>
    </message>
        <message>
            <source>the target &apos;{target}&apos; names no architecture and no NVIDIA GPU was found to take it from: add -arch=sm_90, for instance</source>
            <translation>目标“{target}”没有指定架构，也没有找到可据以确定架构的 NVIDIA GPU：请加上例如 -arch=sm_90</translation>
        </message>
        <message>
            <source>NVIDIA&apos;s compiler (libnvrtc) was not found: install it with &apos;{command}&apos;, or set LATHE_NVRTC to its file or folder</source>
            <translation>未找到 NVIDIA 的编译器（libnvrtc）：请用“{command}”安装，或将 LATHE_NVRTC 设为其文件或文件夹</translation>
        </message>
        <message>
            <source>NVIDIA&apos;s compiler (libnvrtc) cannot be used: {reason}; install it with &apos;{command}&apos;, or set LATHE_NVRTC to its file or folder</source>
            <translation>无法使用 NVIDIA 的编译器（libnvrtc）：{reason}；请用“{command}”安装，或将 LATHE_NVRTC 设为其文件或文件夹</translation>
        </message>
        <message>
            <source>no compiler here generates code for {architecture}, only for those of {compilers}: &apos;{command}&apos; adds one</source>
            <translation>此处没有编译器能为 {architecture} 生成代码，只有 {compilers} 的架构可用：“{command}”可添加一个</translation>
        </message>
        <message>
            <source>the CUDA compiler refuses the source: {log}</source>
            <translation>CUDA 编译器拒绝该源代码：{log}</translation>
        </message>
        <message>
            <source>kernel {kernel} declares its shared memory in a way that no device half expects</source>
            <translation>内核 {kernel} 声明共享内存的方式不是设备端所预期的</translation>
        </message>
        <message>
            <source>a block of the kernel does not fit on a multiprocessor of {gpu}</source>
            <translation>该内核的一个线程块放不进 {gpu} 的一个多处理器</translation>
        </message>
        <message>
            <source>nvdisasm was not found: install it with '{command}', or set LATHE_NVDISASM to its file</source>
            <translation>找不到 nvdisasm：用 '{command}' 安装，或将 LATHE_NVDISASM 设为其文件</translation>
        </message>
        <message>
            <source>nvdisasm failed: {reason}</source>
            <translation>nvdisasm 失败：{reason}</translation>
        </message>
        <message>
            <source>the disassembly has no encodings, so that the instructions' stalls are not known: make it with -hex</source>
            <translation>反汇编中没有编码，因此不知道指令的停顿：请用 -hex 生成</translation>
        </message>
        <message>
            <source>kernel {kernel} has two loops of which neither holds the other</source>
            <translation>内核 {kernel} 有两个互不包含的循环</translation>
        </message>
        <message>
            <source>a launch needs at least one thread and fewer than 2^31 blocks</source>
            <translation>一次启动至少要有一个线程，且线程块少于 2^31 个</translation>
        </message>
        <message>
            <source>a block has at most {most} threads</source>
            <translation>一个线程块最多有 {most} 个线程</translation>
        </message>
        <message>
            <source>a disassembly of more than {most} MiB is not read</source>
            <translation>不读取超过 {most} MiB 的反汇编</translation>
        </message>
        <message>
            <source>a branch goes to {label}, which the disassembly lacks</source>
            <translation>有跳转指向 {label}，而反汇编中没有它</translation>
        </message>
        <message>
            <source>the disassembly has no kernel</source>
            <translation>反汇编中没有内核</translation>
        </message>
        <message>
            <source>line {line} of the disassembly {problem}</source>
            <translation>反汇编的第 {line} 行 {problem}</translation>
        </message>
        <message>
            <source>a kernel of more than {most} instructions is not read</source>
            <translation>不读取超过 {most} 条指令的内核</translation>
        </message>
        <message>
            <source>sums are exchanged within warps of {lanes:lane|lanes}, but the device exchanges registers among {width:lane|lanes}{limit:-}</source>
            <translation>求和在 {lanes} 个通道的线程束内交换，而设备在 {width} 个通道之间交换寄存器</translation>
        </message>
        <message>
            <source>the machine code of {kernel} does not tell how often its loops run, so that no time can be expected of it</source>
            <translation>从 {kernel} 的机器码看不出其循环运行多少次，因此无法给出预期时间</translation>
        </message>
        <message>
            <source>'{target}' has no device: its latencies are those that a model expects of '{other}', none is measured and no output is compared</source>
            <translation>“{target}”没有设备：其延迟是模型对“{other}”的预期，没有一项是实测值，也不比较输出</translation>
        </message>
        <message>
            <source>{device} does not run code for {target}: its {limit} is {has}, and {needed} is needed</source>
            <translation>{device} 不能运行 {target} 的代码：其 {limit} 为 {has}，而需要 {needed}</translation>
        </message>
        <message>
            <source>no device for {target} is here to compare and time the library on ({reason}): skip the comparison and the benchmark (--no-verify --no-bench)</source>
            <translation>本机没有用于 {target} 的设备来比较库并测量其时间（{reason}）：请跳过比较和基准测试（--no-verify --no-bench）</translation>
        </message>
        <message>
            <source>no linker was found: install the package {package} or lld-19, or set LATHE_LINKER to the file of a linker</source>
            <translation>找不到链接器：请安装软件包 {package} 或 lld-19，或将 LATHE_LINKER 设为链接器的文件</translation>
        </message>
    </context>
    <context>
        <name>Devices</name>
        <message>
            <source>Simulated device</source>
            <translation>模拟设备</translation>
        </message>
    </context>
    <context>
        <name>ErrorAdvice</name>
        <message>
            <source>Wrong input</source>
            <translation>输入有误</translation>
        </message>
        <message>
            <source>Correct the setting named in the message.</source>
            <translation>请更正消息中指出的设置。</translation>
        </message>
        <message>
            <source>Not found</source>
            <translation>未找到</translation>
        </message>
        <message>
            <source>Check the name or the path.</source>
            <translation>请检查名称或路径。</translation>
        </message>
        <message>
            <source>Not supported</source>
            <translation>不支持</translation>
        </message>
        <message>
            <source>Export the model without the features named in the message, or choose another target.</source>
            <translation>请在导出模型时去掉消息中指出的功能，或选择其他目标。</translation>
        </message>
        <message>
            <source>Unreadable file</source>
            <translation>文件无法读取</translation>
        </message>
        <message>
            <source>The file is truncated, damaged or of another kind: download, copy or export it again.</source>
            <translation>文件被截断、损坏或类型不符：请重新下载、复制或导出。</translation>
        </message>
        <message>
            <source>Illegal schedule</source>
            <translation>非法调度</translation>
        </message>
        <message>
            <source>The candidate was rejected before it was built; the search continues without it.</source>
            <translation>该候选在构建前被拒绝；搜索会继续进行。</translation>
        </message>
        <message>
            <source>Build failed</source>
            <translation>构建失败</translation>
        </message>
        <message>
            <source>See the compiler&apos;s message; only this candidate is lost.</source>
            <translation>请查看编译器的消息；只损失这一个候选程序。</translation>
        </message>
        <message>
            <source>Build took too long</source>
            <translation>构建超时</translation>
        </message>
        <message>
            <source>Run took too long</source>
            <translation>运行超时</translation>
        </message>
        <message>
            <source>Give runs more time (--timeout), or skip the slow candidate.</source>
            <translation>请为运行留出更多时间（--timeout），或跳过这个慢的候选程序。</translation>
        </message>
        <message>
            <source>Wrong result</source>
            <translation>结果错误</translation>
        </message>
        <message>
            <source>The program computed a wrong result and is not used; please report it.</source>
            <translation>程序算出了错误的结果，因此不被采用；请报告此问题。</translation>
        </message>
        <message>
            <source>Device lost</source>
            <translation>设备丢失</translation>
        </message>
        <message>
            <source>Check the device and its connection.</source>
            <translation>请检查设备及其连接。</translation>
        </message>
        <message>
            <source>Crashed</source>
            <translation>崩溃</translation>
        </message>
        <message>
            <source>The program crashed in its worker process; only this candidate is lost.</source>
            <translation>程序在工作进程中崩溃；只损失这一个候选程序。</translation>
        </message>
        <message>
            <source>Cancelled</source>
            <translation>已取消</translation>
        </message>
        <message>
            <source>Project not written</source>
            <translation>项目未写入</translation>
        </message>
        <message>
            <source>Free disk space or choose another folder; what is stored already is safe.</source>
            <translation>请释放磁盘空间或选择其他文件夹；已保存的内容是安全的。</translation>
        </message>
        <message>
            <source>Does not fit</source>
            <translation>不匹配</translation>
        </message>
        <message>
            <source>Tune the tasks named in the message, or allow default schedules.</source>
            <translation>请调优消息中指出的任务，或允许使用默认调度。</translation>
        </message>
        <message>
            <source>Internal error</source>
            <translation>内部错误</translation>
        </message>
        <message>
            <source>Please report it together with the message.</source>
            <translation>请连同消息一起报告。</translation>
        </message>
        <message>
            <source>The code generator was stopped; only this candidate is lost.</source>
            <translation>代码生成器已被终止；只损失这一个候选程序。</translation>
        </message>
        <message>
            <source>Note</source>
            <translation>提示</translation>
        </message>
    </context>
    <context>
        <name>FailureCure</name>
        <message>
            <source>They had %1 s; the time limit is now %2 s: try them again.</source>
            <translation>当时的时限为 %1 秒；现在为 %2 秒：请重试。</translation>
        </message>
        <message>
            <source>Install the package %1, which is missing on this machine.</source>
            <translation>本机缺少软件包 %1：请安装。</translation>
        </message>
        <message>
            <source>It exceeds the device&apos;s limit “%1”. If the limit is wrong, correct it: the search keeps to it.</source>
            <translation>超出了设备的限制“%1”。若该限制有误请更正，搜索会遵守它。</translation>
        </message>
    </context>
    <context>
        <name>Grades</name>
        <message>
            <source>%1 % faster</source>
            <translation>快 %1 %</translation>
        </message>
        <message>
            <source>%1 (within noise)</source>
            <translation>%1（在噪声内）</translation>
        </message>
        <message>
            <source>same</source>
            <translation>相同</translation>
        </message>
        <message>
            <source>%1 % slower</source>
            <translation>慢 %1 %</translation>
        </message>
    </context>
    <context>
        <name>Hardware</name>
        <message>
            <source>Cores</source>
            <translation>核心数</translation>
        </message>
        <message>
            <source>threads of a kernel</source>
            <translation>一个内核分给多少线程</translation>
        </message>
        <message>
            <source>Vector width</source>
            <translation>向量宽度</translation>
        </message>
        <message>
            <source>bytes</source>
            <translation>字节</translation>
        </message>
        <message>
            <source>of one vector register</source>
            <translation>单个向量寄存器</translation>
        </message>
        <message>
            <source>Vector registers</source>
            <translation>向量寄存器数</translation>
        </message>
        <message>
            <source>accumulators must fit into them</source>
            <translation>累加器须放得下</translation>
        </message>
        <message>
            <source>Multiply-adds per cycle</source>
            <translation>每周期乘加数</translation>
        </message>
        <message>
            <source>vector instructions that a core issues per cycle</source>
            <translation>一个核心每周期发射的向量指令数</translation>
        </message>
        <message>
            <source>Physical cores</source>
            <translation>物理核心数</translation>
        </message>
        <message>
            <source>two threads of a core share its units</source>
            <translation>同一核心的两个线程共用运算单元</translation>
        </message>
        <message>
            <source>Clock</source>
            <translation>主频</translation>
        </message>
        <message>
            <source>MHz</source>
            <translation>MHz</translation>
        </message>
        <message>
            <source>at most</source>
            <translation>最高值</translation>
        </message>
        <message>
            <source>Cache line</source>
            <translation>缓存行</translation>
        </message>
        <message>
            <source>unit in which memory is read</source>
            <translation>读取内存的单位</translation>
        </message>
        <message>
            <source>Level 1 data cache</source>
            <translation>一级数据缓存</translation>
        </message>
        <message>
            <source>of one core</source>
            <translation>每个核心</translation>
        </message>
        <message>
            <source>Level 2 cache</source>
            <translation>二级缓存</translation>
        </message>
        <message>
            <source>Level 3 cache</source>
            <translation>三级缓存</translation>
        </message>
        <message>
            <source>shared by the cores</source>
            <translation>各核心共享</translation>
        </message>
        <message>
            <source>Shared memory of a block</source>
            <translation>每个线程块的共享内存</translation>
        </message>
        <message>
            <source>Local memory of a block</source>
            <translation>每个线程块的局部内存</translation>
        </message>
        <message>
            <source>Threads of a block</source>
            <translation>每个线程块的线程数</translation>
        </message>
        <message>
            <source>Virtual threads</source>
            <translation>虚拟线程数</translation>
        </message>
        <message>
            <source>Threads of a vector</source>
            <translation>每个向量的线程数</translation>
        </message>
        <message>
            <source>of processors that run kernels of GPUs</source>
            <translation>运行 GPU 内核的处理器</translation>
        </message>
        <message>
            <source>Lanes of a core</source>
            <translation>每核心通道数</translation>
        </message>
        <message>
            <source>of 4 bytes, on GPUs</source>
            <translation>每个 4 字节，用于 GPU</translation>
        </message>
        <message>
            <source>Threads of a core</source>
            <translation>每核心线程数</translation>
        </message>
        <message>
            <source>at a time, on GPUs</source>
            <translation>同时驻留，用于 GPU</translation>
        </message>
        <message>
            <source>Blocks of a core</source>
            <translation>每核心线程块数</translation>
        </message>
        <message>
            <source>Registers of a core</source>
            <translation>每核心寄存器数</translation>
        </message>
        <message>
            <source>Registers of a thread</source>
            <translation>每线程寄存器数</translation>
        </message>
        <message>
            <source>at most, on GPUs</source>
            <translation>上限，用于 GPU</translation>
        </message>
        <message>
            <source>Shared memory of a core</source>
            <translation>每核心共享内存</translation>
        </message>
        <message>
            <source>of all its blocks, on GPUs</source>
            <translation>供其所有线程块，用于 GPU</translation>
        </message>
        <message>
            <source>Memory in a cycle</source>
            <translation>内存每周期</translation>
        </message>
        <message>
            <source>all cores together</source>
            <translation>所有核心合计</translation>
        </message>
        <message>
            <source>Cache in a cycle</source>
            <translation>缓存每周期</translation>
        </message>
        <message>
            <source>compute capability %1</source>
            <translation>计算能力 %1</translation>
        </message>
        <message>
            <source>OpenCL driver</source>
            <translation>OpenCL 驱动程序</translation>
        </message>
        <message>
            <source>Warp</source>
            <translation>线程束</translation>
        </message>
        <message>
            <source>Lanes of a shuffle</source>
            <translation>洗牌的通道数</translation>
        </message>
        <message>
            <source>that exchange registers, on GPUs</source>
            <translation>交换寄存器的线程，GPU 上</translation>
        </message>
        <message>
            <source>threads</source>
            <translation>线程</translation>
        </message>
        <message>
            <source>of GPUs</source>
            <translation>用于 GPU</translation>
        </message>
        <message>
            <source>detected</source>
            <translation>检测得到</translation>
        </message>
        <message>
            <source>simulated</source>
            <translation>模拟</translation>
        </message>
        <message>
            <source>edited</source>
            <translation>手动修改</translation>
        </message>
        <message>
            <source>from the target</source>
            <translation>由目标指定</translation>
        </message>
        <message>
            <source>preset of %1</source>
            <translation>%1 的预设</translation>
        </message>
        <message>
            <source>file %1</source>
            <translation>文件 %1</translation>
        </message>
    </context>
    <context>
        <name>Menus</name>
        <message>
            <source>&amp;File</source>
            <translation>文件(&amp;F)</translation>
        </message>
        <message>
            <source>&amp;Recent</source>
            <translation>最近(&amp;R)</translation>
        </message>
        <message>
            <source>&amp;Edit</source>
            <translation>编辑(&amp;E)</translation>
        </message>
        <message>
            <source>&amp;Run</source>
            <translation>运行(&amp;R)</translation>
        </message>
        <message>
            <source>&amp;Go</source>
            <translation>转到(&amp;G)</translation>
        </message>
        <message>
            <source>&amp;View</source>
            <translation>视图(&amp;V)</translation>
        </message>
        <message>
            <source>&amp;Docks</source>
            <translation>停靠面板(&amp;D)</translation>
        </message>
        <message>
            <source>&amp;Layouts</source>
            <translation>布局(&amp;L)</translation>
        </message>
        <message>
            <source>&amp;Appearance</source>
            <translation>外观(&amp;A)</translation>
        </message>
        <message>
            <source>Lan&amp;guage</source>
            <translation>语言(&amp;G)</translation>
        </message>
        <message>
            <source>&amp;Help</source>
            <translation>帮助(&amp;H)</translation>
        </message>
    </context>
    <context>
        <name>Pages</name>
        <message>
            <source>Network</source>
            <translation>网络</translation>
        </message>
        <message>
            <source>Curves</source>
            <translation>曲线</translation>
        </message>
        <message>
            <source>Scheduler</source>
            <translation>调度器</translation>
        </message>
        <message>
            <source>Records</source>
            <translation>记录</translation>
        </message>
        <message>
            <source>Time</source>
            <translation>时间</translation>
        </message>
        <message>
            <source>Tasks</source>
            <translation>任务</translation>
        </message>
        <message>
            <source>Selected task</source>
            <translation>所选任务</translation>
        </message>
        <message>
            <source>Failures</source>
            <translation>失败</translation>
        </message>
        <message>
            <source>Issues</source>
            <translation>问题</translation>
        </message>
        <message>
            <source>Log</source>
            <translation>日志</translation>
        </message>
        <message>
            <source>Compare</source>
            <translation>比较</translation>
        </message>
        <message>
            <source>Devices</source>
            <translation>设备</translation>
        </message>
        <message>
            <source>Templates</source>
            <translation>模板</translation>
        </message>
    </context>
    <context>
        <name>Texts</name>
        <message>
            <source>%1 ms</source>
            <translation>%1 毫秒</translation>
        </message>
        <message>
            <source>updated %1 s ago</source>
            <translation>%1 秒前更新</translation>
        </message>
        <message>
            <source>updated %1 ago</source>
            <translation>%1前更新</translation>
        </message>
        <message>
            <source>Sum of the measured parts: %1 (tasks %2, chain %3, untuned functions %4, call %5)</source>
            <translation>各部分实测之和：%1（任务 %2，衔接 %3，未调优函数 %4，调用 %5）</translation>
        </message>
        <message>
            <source>at least %1</source>
            <translation>至少 %1</translation>
        </message>
        <message>
            <source>%1 µs</source>
            <translation>%1 微秒</translation>
        </message>
    </context>
    <context>
        <name>ViewExport</name>
        <message>
            <source>Node</source>
            <translation>节点</translation>
        </message>
        <message>
            <source>Operator</source>
            <translation>算子</translation>
        </message>
        <message>
            <source>Name</source>
            <translation>名称</translation>
        </message>
        <message>
            <source>Task</source>
            <translation>任务</translation>
        </message>
        <message>
            <source>Output</source>
            <translation>输出</translation>
        </message>
        <message>
            <source>Cannot write %1: %2</source>
            <translation>无法写入 %1：%2</translation>
        </message>
        <message>
            <source>no network is open, or the file cannot be written</source>
            <translation>没有打开网络，或无法写入文件</translation>
        </message>
        <message>
            <source>the name must end in .png, .svg or .csv</source>
            <translation>名称必须以 .png、.svg 或 .csv 结尾</translation>
        </message>
        <message>
            <source>CSV table (*.csv)</source>
            <translation>CSV 表格 (*.csv)</translation>
        </message>
        <message>
            <source>SVG image (*.svg)</source>
            <translation>SVG 图像 (*.svg)</translation>
        </message>
        <message>
            <source>PNG image (*.png)</source>
            <translation>PNG 图像 (*.png)</translation>
        </message>
        <message>
            <source>Save this view</source>
            <translation>保存此视图</translation>
        </message>
        <message>
            <source>there is nothing to save yet</source>
            <translation>还没有可保存的内容</translation>
        </message>
        <message>
            <source>Zoom to &amp;fit</source>
            <translation>缩放至全部(&amp;F)</translation>
        </message>
        <message>
            <source>&amp;Copy</source>
            <translation>复制(&amp;C)</translation>
        </message>
        <message>
            <source>&amp;Copy picture</source>
            <translation>复制图片(&amp;C)</translation>
        </message>
        <message>
            <source>Copy as C&amp;SV</source>
            <translation>复制为 CSV(&amp;S)</translation>
        </message>
        <message>
            <source>Sa&amp;ve this view…</source>
            <translation>保存此视图(&amp;V)…</translation>
        </message>
        <message>
            <source>Not saved</source>
            <translation>未保存</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::AboutDialog</name>
        <message>
            <source>About Lathe</source>
            <translation>关于 Lathe</translation>
        </message>
        <message>
            <source>&lt;b&gt;Lathe&lt;/b&gt;&lt;p&gt;Tunes neural networks for the device they will run on.&lt;/p&gt;&lt;p&gt;Licence: Apache-2.0&lt;/p&gt;</source>
            <translation>&lt;b&gt;Lathe&lt;/b&gt;&lt;p&gt;针对神经网络将要运行的设备进行调优。&lt;/p&gt;&lt;p&gt;许可证：Apache-2.0&lt;/p&gt;</translation>
        </message>
        <message>
            <source>Versions</source>
            <translation>版本</translation>
        </message>
        <message>
            <source>&amp;Copy</source>
            <translation>复制(&amp;C)</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::BandChart</name>
        <message>
            <source>No data yet</source>
            <translation>尚无数据</translation>
        </message>
        <message>
            <source>%1 % %2</source>
            <translation>%1 % %2</translation>
        </message>
        <message>
            <source>%1 %</source>
            <translation>%1 %</translation>
        </message>
        <message>
            <source>%1 more</source>
            <translation>另外 %1 个</translation>
        </message>
        <message>
            <source>%1 to %2
%3: %4 %5 (%6 %)</source>
            <translation>%1 至 %2
%3：%4 %5（%6 %）</translation>
        </message>
        <message>
            <source>From (s)</source>
            <translation>开始（秒）</translation>
        </message>
        <message>
            <source>To (s)</source>
            <translation>结束（秒）</translation>
        </message>
        <message>
            <source>Name</source>
            <translation>名称</translation>
        </message>
        <message>
            <source>Amount (%1)</source>
            <translation>数量（%1）</translation>
        </message>
        <message>
            <source>Other</source>
            <translation>其他</translation>
        </message>
        <message>
            <source>First rounds (warm-up)</source>
            <translation>首轮（预热）</translation>
        </message>
        <message>
            <source>Every task&apos;s first round, before there was anything to choose by: %1 %2</source>
            <translation>每个任务的首轮，此时尚无选择依据：%1 %2</translation>
        </message>
        <message>
            <source>%1: %2 %3 (%4 %)</source>
            <translation>%1：%2 %3（%4 %）</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::BudgetBar</name>
        <message>
            <source>Pin</source>
            <translation>固定</translation>
        </message>
        <message>
            <source>Pinned tasks get their trials first</source>
            <translation>固定的任务优先获得试验</translation>
        </message>
        <message>
            <source>Mute</source>
            <translation>静音</translation>
        </message>
        <message>
            <source>Muted tasks get no trials</source>
            <translation>静音的任务不再获得试验</translation>
        </message>
        <message>
            <source>Weight in the scheduler</source>
            <translation>调度器中的权重</translation>
        </message>
        <message>
            <source>Maximum number of trials per run</source>
            <translation>每次运行的最多试验次数</translation>
        </message>
        <message>
            <source>Maximum number of trials</source>
            <translation>最多试验次数</translation>
        </message>
        <message>
            <source>no cap</source>
            <translation>无上限</translation>
        </message>
        <message>
            <source> trials</source>
            <translation> 次试验</translation>
        </message>
        <message>
            <source>Raise or lower the gain that the scheduler expects of the task</source>
            <translation>提高或降低调度器对该任务的预期收益</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::CommandPalette</name>
        <message>
            <source>Commands</source>
            <translation>命令</translation>
        </message>
        <message>
            <source>Type a command</source>
            <translation>输入命令</translation>
        </message>
        <message>
            <source>Command</source>
            <translation>命令</translation>
        </message>
        <message>
            <source>Commands found</source>
            <translation>找到的命令</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::CompareModel</name>
        <message>
            <source>Task</source>
            <translation>任务</translation>
        </message>
        <message>
            <source>Weight</source>
            <translation>权重</translation>
        </message>
        <message>
            <source>Now (ms)</source>
            <translation>当前（毫秒）</translation>
        </message>
        <message>
            <source>In the network (ms)</source>
            <translation>在网络中（毫秒）</translation>
        </message>
        <message>
            <source>%1 (ms)</source>
            <translation>%1（毫秒）</translation>
        </message>
        <message>
            <source>Now vs. %1</source>
            <translation>当前相对于 %1</translation>
        </message>
        <message>
            <source>Weighted change from A</source>
            <translation>相对于 A 的加权变化</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::ComparePage</name>
        <message>
            <source>Projects (*.lathe)</source>
            <translation>项目 (*.lathe)</translation>
        </message>
        <message>
            <source>The open project and its baselines</source>
            <translation>当前项目及其基线</translation>
        </message>
        <message>
            <source>Tasks now and in the baselines</source>
            <translation>当前与各基线的任务</translation>
        </message>
        <message>
            <source>Conditions now and in the baselines</source>
            <translation>当前与各基线的条件</translation>
        </message>
        <message>
            <source>Add &amp;project…</source>
            <translation>添加项目(&amp;P)…</translation>
        </message>
        <message>
            <source>Add another project of the same network</source>
            <translation>添加同一网络的另一个项目</translation>
        </message>
        <message>
            <source>Add a run</source>
            <translation>添加一次运行</translation>
        </message>
        <message>
            <source>Add a run of this project</source>
            <translation>添加本项目的一次运行</translation>
        </message>
        <message>
            <source>Add a device</source>
            <translation>添加设备</translation>
        </message>
        <message>
            <source>Add what this project&apos;s runs measured on devices of one kind</source>
            <translation>添加本项目的运行在同一种设备上测得的结果</translation>
        </message>
        <message>
            <source>Add a &amp;date…</source>
            <translation>添加日期(&amp;D)…</translation>
        </message>
        <message>
            <source>Add the state of this project at a point in time</source>
            <translation>添加本项目在某一时刻的状态</translation>
        </message>
        <message>
            <source>&amp;Remove</source>
            <translation>移除(&amp;R)</translation>
        </message>
        <message>
            <source>Remove the selected baseline</source>
            <translation>移除所选基线</translation>
        </message>
        <message>
            <source>&amp;Copy command line</source>
            <translation>复制命令行(&amp;C)</translation>
        </message>
        <message>
            <source>&amp;Tasks</source>
            <translation>任务(&amp;T)</translation>
        </message>
        <message>
            <source>Progra&amp;m</source>
            <translation>程序(&amp;G)</translation>
        </message>
        <message>
            <source>Co&amp;nditions</source>
            <translation>条件(&amp;N)</translation>
        </message>
        <message>
            <source>Co&amp;nditions (%1 differ)</source>
            <translation>条件(&amp;N)（%1 项不同）</translation>
        </message>
        <message>
            <source>Compare with projects</source>
            <translation>与项目比较</translation>
        </message>
        <message>
            <source>State of the project at a point in time</source>
            <translation>项目在某一时刻的状态</translation>
        </message>
        <message>
            <source>Time</source>
            <translation>时间</translation>
        </message>
        <message>
            <source>Use only what was recorded up to this time:</source>
            <translation>只使用截至此时刻的记录：</translation>
        </message>
        <message>
            <source>%1: %2</source>
            <translation>%1：%2</translation>
        </message>
        <message>
            <source>Add an earlier project, a run, a device or a date to see what became faster or slower.</source>
            <translation>添加较早的项目、一次运行、一种设备或一个日期，即可看到哪些变快或变慢了。</translation>
        </message>
        <message>
            <source>Open a network to compare it.</source>
            <translation>请先打开一个网络再进行比较。</translation>
        </message>
        <message>
            <source>Compared with A: %1 before, %2 now (%3), over the tasks with valid records in both.</source>
            <translation>相对于 A：之前 %1，当前 %2（%3），只计双方都有有效记录的任务。</translation>
        </message>
        <message>
            <source>A and this project have no common task with valid records in both.</source>
            <translation>A 与本项目没有双方都有有效记录的共同任务。</translation>
        </message>
        <message>
            <source>Caution: latencies may not be comparable, since conditions differ (%1).</source>
            <translation>注意：有条件不同（%1 项），延迟可能不可比。</translation>
        </message>
        <message>
            <source>Run %1: %2, %3 tuned, %4</source>
            <translation>运行 %1：%2，调优 %3，%4</translation>
        </message>
        <message>
            <source>This project has no valid trials yet</source>
            <translation>本项目还没有有效的试验</translation>
        </message>
        <message>
            <source>This project has no runs yet</source>
            <translation>本项目还没有运行</translation>
        </message>
        <message>
            <source>Remove what cannot be read</source>
            <translation>移除无法读取的基线</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::ConditionModel</name>
        <message>
            <source>= same</source>
            <translation>= 相同</translation>
        </message>
        <message>
            <source>≠ may not be comparable</source>
            <translation>≠ 可能不可比</translation>
        </message>
        <message>
            <source>≠ differs</source>
            <translation>≠ 不同</translation>
        </message>
        <message>
            <source>Condition</source>
            <translation>条件</translation>
        </message>
        <message>
            <source>Compared</source>
            <translation>比较结果</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::CoverageModel</name>
        <message>
            <source>● record</source>
            <translation>● 记录</translation>
        </message>
        <message>
            <source>◐ near match</source>
            <translation>◐ 近似匹配</translation>
        </message>
        <message>
            <source>○ default schedule</source>
            <translation>○ 默认调度</translation>
        </message>
        <message>
            <source>– not tuned</source>
            <translation>– 不调优</translation>
        </message>
        <message>
            <source>What the exported library runs for this function</source>
            <translation>导出的库为该函数运行的内容</translation>
        </message>
        <message>
            <source>Share of the sum of all estimates</source>
            <translation>占全部估计时间之和的比例</translation>
        </message>
        <message>
            <source>Share of the operations of all tasks</source>
            <translation>占全部任务运算量的比例</translation>
        </message>
        <message>
            <source>Measured alone during tuning</source>
            <translation>调优时单独测得</translation>
        </message>
        <message>
            <source>Measured in the exported library</source>
            <translation>在导出的库中测得</translation>
        </message>
        <message>
            <source>Function</source>
            <translation>函数</translation>
        </message>
        <message>
            <source>Runs</source>
            <translation>运行</translation>
        </message>
        <message>
            <source>Time</source>
            <translation>时间</translation>
        </message>
        <message>
            <source>Operations</source>
            <translation>运算量</translation>
        </message>
        <message>
            <source>Estimated</source>
            <translation>估计</translation>
        </message>
        <message>
            <source>Measured</source>
            <translation>实测</translation>
        </message>
        <message>
            <source>Algorithm</source>
            <translation>算法</translation>
        </message>
        <message>
            <source>Record</source>
            <translation>记录</translation>
        </message>
        <message>
            <source>Why</source>
            <translation>原因</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::CurvesPage</name>
        <message>
            <source>&amp;Logarithmic</source>
            <translation>对数坐标(&amp;L)</translation>
        </message>
        <message>
            <source>Curves of tasks</source>
            <translation>任务曲线</translation>
        </message>
        <message>
            <source>Latency of tasks, times their weight, beside that of the network</source>
            <translation>任务延迟乘以权重，与整个网络的延迟并列</translation>
        </message>
        <message>
            <source>no tasks</source>
            <translation>无任务</translation>
        </message>
        <message>
            <source>selected task</source>
            <translation>所选任务</translation>
        </message>
        <message>
            <source>largest tasks</source>
            <translation>最大的任务</translation>
        </message>
        <message>
            <source>all tasks</source>
            <translation>所有任务</translation>
        </message>
        <message>
            <source>held</source>
            <translation>已定格</translation>
        </message>
        <message>
            <source>Logarithmic axis of latency</source>
            <translation>延迟采用对数坐标轴</translation>
        </message>
        <message>
            <source>Add &amp;run or project</source>
            <translation>添加运行或项目(&amp;R)</translation>
        </message>
        <message>
            <source>Show other runs beside this one, of this project and of others</source>
            <translation>在此运行旁边显示本项目及其他项目的运行</translation>
        </message>
        <message>
            <source>Re&amp;move it</source>
            <translation>移除它(&amp;M)</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::DevicesPage</name>
        <message>
            <source>Devices</source>
            <translation>设备</translation>
        </message>
        <message>
            <source>Hardware parameters</source>
            <translation>硬件参数</translation>
        </message>
        <message>
            <source>&amp;Look again</source>
            <translation>重新查找(&amp;L)</translation>
        </message>
        <message>
            <source>Ask all back ends for devices</source>
            <translation>询问各后端能找到哪些设备</translation>
        </message>
        <message>
            <source>Self-&amp;test</source>
            <translation>自检(&amp;T)</translation>
        </message>
        <message>
            <source>Build a small kernel, run it and check its result</source>
            <translation>编译一个小内核并运行，核对计算结果</translation>
        </message>
        <message>
            <source>Reset to &amp;detected</source>
            <translation>恢复检测值(&amp;D)</translation>
        </message>
        <message>
            <source>Discard the edited value of the selected parameter</source>
            <translation>放弃所选参数的修改值</translation>
        </message>
        <message>
            <source>Open network: %1</source>
            <translation>已打开的网络：%1</translation>
        </message>
        <message>
            <source>ready</source>
            <translation>可用</translation>
        </message>
        <message>
            <source>not usable</source>
            <translation>不可用</translation>
        </message>
        <message>
            <source>%1 is ready for measurements. Its back end reports these parameters.</source>
            <translation>%1 可用于测量。其参数由后端给出。</translation>
        </message>
        <message>
            <source>Not usable: %1</source>
            <translation>无法使用：%1</translation>
        </message>
        <message>
            <source>Parameters of the replayed run.</source>
            <translation>所回放的运行的参数。</translation>
        </message>
        <message>
            <source>Parameters for the search. Double-click a value to change it for later runs; it is stored with the project.</source>
            <translation>搜索使用的参数。双击数值可修改，对以后的运行生效，并随项目保存。</translation>
        </message>
        <message>
            <source>Looking for devices…</source>
            <translation>正在查找设备…</translation>
        </message>
        <message>
            <source>No device found.</source>
            <translation>未找到设备。</translation>
        </message>
        <message>
            <source>Self-test running…</source>
            <translation>正在自检…</translation>
        </message>
        <message>
            <source>Self-test failed: %1</source>
            <translation>自检失败：%1</translation>
        </message>
        <message>
            <source>Self-test passed: a kernel was built, ran in %1 and computed the right result</source>
            <translation>自检通过：内核已编译，运行 %1，结果正确</translation>
        </message>
        <message>
            <source> (relative error %1)</source>
            <translation>（相对误差 %1）</translation>
        </message>
        <message>
            <source>.</source>
            <translation>。</translation>
        </message>
        <message>
            <source>Devices of this machine</source>
            <translation>本机设备</translation>
        </message>
        <message>
            <source>This machine</source>
            <translation>本机</translation>
        </message>
        <message>
            <source>Farm</source>
            <translation>设备群</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::DiffView</name>
        <message>
            <source>Program on the left</source>
            <translation>左侧程序</translation>
        </message>
        <message>
            <source>Program on the right</source>
            <translation>右侧程序</translation>
        </message>
        <message>
            <source>      … %1 equal lines …</source>
            <translation>      … %1 行相同 …</translation>
        </message>
        <message numerus="yes">
            <source>      … %n more lines not shown …</source>
            <translation>
                <numerusform>      … 还有 %n 行未显示 …</numerusform>
            </translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::DragHandle</name>
        <message>
            <source>Drag to export the chart as an image</source>
            <translation>拖动可将图表导出为图像</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::Edits</name>
        <message>
            <source>pin %1</source>
            <translation>固定 %1</translation>
        </message>
        <message>
            <source>unpin %1</source>
            <translation>取消固定 %1</translation>
        </message>
        <message>
            <source>mute %1</source>
            <translation>静音 %1</translation>
        </message>
        <message>
            <source>unmute %1</source>
            <translation>取消静音 %1</translation>
        </message>
        <message>
            <source>weight of %1</source>
            <translation>%1 的权重</translation>
        </message>
        <message>
            <source>cap of %1</source>
            <translation>%1 的试验上限</translation>
        </message>
        <message>
            <source>budget of %1</source>
            <translation>%1 的预算</translation>
        </message>
        <message>
            <source>time limit of %1 s</source>
            <translation>时限 %1 秒</translation>
        </message>
        <message>
            <source>note on the project</source>
            <translation>项目备注</translation>
        </message>
        <message>
            <source>note on trial %1</source>
            <translation>试验 %1 的备注</translation>
        </message>
        <message>
            <source>note</source>
            <translation>备注</translation>
        </message>
        <message>
            <source>budget</source>
            <translation>预算</translation>
        </message>
        <message>
            <source>time limit</source>
            <translation>时限</translation>
        </message>
        <message>
            <source>Time limit of a candidate: %1 s from the next round on</source>
            <translation>候选程序的时间上限：从下一轮起 %1 秒</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::ExportDialog</name>
        <message>
            <source>R&amp;un on:</source>
            <translation>运行于(&amp;U)：</translation>
        </message>
        <message>
            <source>Where the library is verified and measured</source>
            <translation>在何处验证和测量该库</translation>
        </message>
        <message>
            <source>this machine</source>
            <translation>本机</translation>
        </message>
        <message>
            <source>%1 at the farm</source>
            <translation>设备群的 %1</translation>
        </message>
        <message>
            <source>waiting for a device of the farm</source>
            <translation>正在等待设备群的设备</translation>
        </message>
        <message>
            <source>Ran on %1 at the farm</source>
            <translation>在设备群的 %1 上运行</translation>
        </message>
        <message>
            <source>Export deploy library</source>
            <translation>导出部署库</translation>
        </message>
        <message>
            <source>Shared objects (*.so)</source>
            <translation>共享库 (*.so)</translation>
        </message>
        <message>
            <source>&amp;Verify the outputs against the reference executor</source>
            <translation>用参考执行器校验输出(&amp;V)</translation>
        </message>
        <message>
            <source>&amp;File:</source>
            <translation>文件(&amp;F)：</translation>
        </message>
        <message>
            <source>Progress of the export</source>
            <translation>导出进度</translation>
        </message>
        <message>
            <source>What each function runs</source>
            <translation>各函数运行的内容</translation>
        </message>
        <message>
            <source>&amp;Export</source>
            <translation>导出(&amp;E)</translation>
        </message>
        <message>
            <source>Export failed: %1</source>
            <translation>导出失败：%1</translation>
        </message>
        <message>
            <source>Done</source>
            <translation>完成</translation>
        </message>
        <message>
            <source>Written: %1</source>
            <translation>已写入：%1</translation>
        </message>
        <message>
            <source>Verified: largest relative error %1</source>
            <translation>已校验：最大相对误差为 %1</translation>
        </message>
        <message>
            <source>Not verified.</source>
            <translation>未校验。</translation>
        </message>
        <message>
            <source>Target:</source>
            <translation>目标：</translation>
        </message>
        <message>
            <source>&amp;Name:</source>
            <translation>名称(&amp;N)：</translation>
        </message>
        <message>
            <source>&amp;Threads for the measurement:</source>
            <translation>测量所用线程数(&amp;T)：</translation>
        </message>
        <message>
            <source>File of the library</source>
            <translation>库文件</translation>
        </message>
        <message>
            <source>C&amp;hoose…</source>
            <translation>选择(&amp;H)…</translation>
        </message>
        <message>
            <source>Name of the exported symbols</source>
            <translation>导出符号的名称</translation>
        </message>
        <message>
            <source>The library exports lathe_NAME_create, lathe_NAME_run and so on</source>
            <translation>该库导出 lathe_NAME_create、lathe_NAME_run 等符号</translation>
        </message>
        <message>
            <source>from the file name</source>
            <translation>取自文件名</translation>
        </message>
        <message>
            <source>Threads for the measurement</source>
            <translation>测量所用线程数</translation>
        </message>
        <message>
            <source>No algorithm that trades &amp;accuracy for speed</source>
            <translation>不用以精度换速度的算法(&amp;A)</translation>
        </message>
        <message>
            <source>Convolutions are computed directly, never with winograd</source>
            <translation>卷积一律直接计算，不使用 Winograd</translation>
        </message>
        <message>
            <source>&amp;Measure the library</source>
            <translation>测量该库(&amp;M)</translation>
        </message>
        <message>
            <source>&amp;Replace these files</source>
            <translation>替换这些文件(&amp;R)</translation>
        </message>
        <message>
            <source>&amp;Open folder</source>
            <translation>打开文件夹(&amp;O)</translation>
        </message>
        <message>
            <source>&amp;Copy command line</source>
            <translation>复制命令行(&amp;C)</translation>
        </message>
        <message>
            <source>%1: a shared object with the weights, plus a C header, a description and examples in C, C++ and Python</source>
            <translation>%1：一个含权重的共享库，另有 C 头文件、描述文件以及 C、C++ 和 Python 示例</translation>
        </message>
        <message>
            <source>Reading the records…</source>
            <translation>正在读取记录…</translation>
        </message>
        <message>
            <source>Not for this target: %1</source>
            <translation>该目标不能导出：%1</translation>
        </message>
        <message numerus="yes">
            <source>%n tasks: %1 with a record, %2 with a near match, %3 on default schedules. Sum of tasks: %4</source>
            <translation>
                <numerusform>共 %n 个任务：%1 个用自己的记录，%2 个用近似匹配，%3 个用默认调度。任务之和：%4</numerusform>
            </translation>
        </message>
        <message>
            <source>unknown, since some have no record</source>
            <translation>未知，因为有的任务没有记录</translation>
        </message>
        <message>
            <source>Allow &amp;default schedules</source>
            <translation>允许默认调度(&amp;D)</translation>
        </message>
        <message>
            <source>Allow &amp;default schedules (not needed)</source>
            <translation>允许默认调度(&amp;D)（不需要）</translation>
        </message>
        <message>
            <source>Allow &amp;default schedules (%1 of %2 tasks have no valid record)</source>
            <translation>允许默认调度(&amp;D)（%2 个任务中有 %1 个没有有效记录）</translation>
        </message>
        <message>
            <source>Export in progress</source>
            <translation>正在导出</translation>
        </message>
        <message numerus="yes">
            <source>%n tasks have no valid record: tune them, or allow default schedules</source>
            <translation>
                <numerusform>有 %n 个任务没有有效记录：请调优它们，或允许默认调度</numerusform>
            </translation>
        </message>
        <message>
            <source>&amp;Cancel</source>
            <translation>取消(&amp;C)</translation>
        </message>
        <message>
            <source>C&amp;lose</source>
            <translation>关闭(&amp;L)</translation>
        </message>
        <message>
            <source>cancelling</source>
            <translation>正在取消</translation>
        </message>
        <message>
            <source>choosing records</source>
            <translation>选择记录</translation>
        </message>
        <message>
            <source>compiling</source>
            <translation>编译</translation>
        </message>
        <message>
            <source>verifying the outputs</source>
            <translation>校验输出</translation>
        </message>
        <message>
            <source>measuring</source>
            <translation>测量</translation>
        </message>
        <message>
            <source>writing</source>
            <translation>写入</translation>
        </message>
        <message numerus="yes">
            <source>Measured: %1 (median) with %n threads</source>
            <translation>
                <numerusform>实测：%1（中位数），%n 个线程</numerusform>
            </translation>
        </message>
        <message>
            <source>The library is for another processor and cannot run on this machine</source>
            <translation>该库面向另一种处理器，无法在本机运行</translation>
        </message>
        <message>
            <source>%2 % above the estimate of %1</source>
            <translation>比估计的 %1 高 %2 %</translation>
        </message>
        <message>
            <source>No file manager was found. The folder is %1</source>
            <translation>找不到文件管理器。文件夹是 %1</translation>
        </message>
        <message>
            <source>%2 % below the estimate of %1</source>
            <translation>比估计的 %1 低 %2 %</translation>
        </message>
        <message>
            <source>from the target</source>
            <translation>按目标</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::FailureModel</name>
        <message>
            <source>lowering</source>
            <translation>降级</translation>
        </message>
        <message>
            <source>building</source>
            <translation>构建</translation>
        </message>
        <message>
            <source>loading</source>
            <translation>加载</translation>
        </message>
        <message>
            <source>running</source>
            <translation>运行</translation>
        </message>
        <message>
            <source>verifying</source>
            <translation>验证</translation>
        </message>
        <message>
            <source>transport</source>
            <translation>传输</translation>
        </message>
        <message>
            <source>other network</source>
            <translation>其他网络的</translation>
        </message>
        <message>
            <source>Count</source>
            <translation>次数</translation>
        </message>
        <message>
            <source>What</source>
            <translation>类型</translation>
        </message>
        <message>
            <source>Stage</source>
            <translation>阶段</translation>
        </message>
        <message>
            <source>Cause</source>
            <translation>原因</translation>
        </message>
        <message>
            <source>Tasks</source>
            <translation>任务</translation>
        </message>
        <message>
            <source>%1 more tasks</source>
            <translation>另外 %1 个任务</translation>
        </message>
        <message>
            <source>1 more task</source>
            <translation>另有 1 个任务</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::FailuresPage</name>
        <message>
            <source>failures</source>
            <translation>失败</translation>
        </message>
        <message>
            <source>Failures</source>
            <translation>失败</translation>
        </message>
        <message>
            <source>Message of the latest one</source>
            <translation>最近一次的消息</translation>
        </message>
        <message>
            <source>Show these &amp;trials</source>
            <translation>显示这些试验(&amp;T)</translation>
        </message>
        <message>
            <source>Show them in Records</source>
            <translation>在记录中列出</translation>
        </message>
        <message>
            <source>Open a network to see its failures.</source>
            <translation>请打开一个网络以查看其失败。</translation>
        </message>
        <message>
            <source>No trial has failed.</source>
            <translation>没有失败的试验。</translation>
        </message>
        <message>
            <source>Raise the time &amp;limit to %1 s</source>
            <translation>将时间上限提高到 %1 秒(&amp;L)</translation>
        </message>
        <message>
            <source>From the next round of this run on, and for later runs</source>
            <translation>从本次运行的下一轮起，对以后的运行同样有效</translation>
        </message>
        <message>
            <source>One trial failed.</source>
            <translation>有一次试验失败。</translation>
        </message>
        <message>
            <source>%1 trials failed.</source>
            <translation>共 %1 次试验失败。</translation>
        </message>
        <message>
            <source>Select its cause to see the message and what helps.</source>
            <translation>选中原因可查看消息和解决办法。</translation>
        </message>
        <message>
            <source>%1 causes: select one to see its message and what helps.</source>
            <translation>%1 种原因：选中一种可查看消息和解决办法。</translation>
        </message>
        <message>
            <source>Copy command line: try again</source>
            <translation>复制命令行：重试</translation>
        </message>
        <message>
            <source>Build and measure them again; the results are new trials</source>
            <translation>重新编译并测量；结果记为新的试验</translation>
        </message>
        <message>
            <source>Try it &amp;again</source>
            <translation>重试(&amp;A)</translation>
        </message>
        <message>
            <source>Try all %1 &amp;again</source>
            <translation>全部重试（%1 个）(&amp;A)</translation>
        </message>
        <message>
            <source>Copy the &amp;install command</source>
            <translation>复制安装命令(&amp;I)</translation>
        </message>
        <message>
            <source>&amp;Open the limit</source>
            <translation>打开该限制(&amp;O)</translation>
        </message>
        <message>
            <source>Show the device&apos;s limits</source>
            <translation>显示设备的限制</translation>
        </message>
        <message>
            <source>Copied: %1</source>
            <translation>已复制：%1</translation>
        </message>
        <message>
            <source>Show its &amp;program</source>
            <translation>显示其程序(&amp;P)</translation>
        </message>
        <message>
            <source>Schedule, loops and code of the latest of these trials</source>
            <translation>其中最近一次试验的调度、循环和代码</translation>
        </message>
        <message>
            <source>No network is open</source>
            <translation>没有打开的网络</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::GraphLayouter</name>
        <message>
            <source>The graph layout took longer than %1 s and was stopped.</source>
            <translation>图布局超过 %1 秒，已停止。</translation>
        </message>
        <message>
            <source>Cannot start the graph layout program lathe-layout (%1): install Lathe again.</source>
            <translation>无法启动负责图布局的程序 lathe-layout（%1）：请重新安装 Lathe。</translation>
        </message>
        <message>
            <source>The graph layout program crashed.</source>
            <translation>图布局程序崩溃。</translation>
        </message>
        <message>
            <source>The graph layout program returned no layout.</source>
            <translation>图布局程序没有给出布局。</translation>
        </message>
        <message>
            <source>The graph layout program failed: %1</source>
            <translation>图布局程序失败：%1</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::EdgeLayouts</name>
        <message>
            <source>* Changed by the layouts that are tried</source>
            <translation>* 因尝试的布局而改变</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::GraphLegend</name>
        <message>
            <source>text on edges: layout of the tensor; A → B: converted</source>
            <translation>边上的文字：张量的布局；A → B：有转换</translation>
        </message>
        <message>
            <source>changed by the layouts that are tried</source>
            <translation>因尝试的布局而改变</translation>
        </message>
        <message>
            <source>Legend</source>
            <translation>图例</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::GraphLooks</name>
        <message>
            <source>%1 tasks</source>
            <translation>%1 个任务</translation>
        </message>
        <message>
            <source>mixed</source>
            <translation>混合</translation>
        </message>
        <message>
            <source>no task</source>
            <translation>无任务</translation>
        </message>
        <message>
            <source>partly</source>
            <translation>部分</translation>
        </message>
        <message>
            <source>one colour and number per task</source>
            <translation>每个任务一种颜色和编号</translation>
        </message>
        <message>
            <source>no task or several</source>
            <translation>无任务或多个任务</translation>
        </message>
        <message>
            <source>%1 % or more</source>
            <translation>%1 % 及以上</translation>
        </message>
        <message>
            <source>not yet known</source>
            <translation>尚不清楚</translation>
        </message>
        <message>
            <source>another layout</source>
            <translation>其他布局</translation>
        </message>
        <message>
            <source>none</source>
            <translation>无</translation>
        </message>
        <message>
            <source>record</source>
            <translation>有记录</translation>
        </message>
        <message>
            <source>near match</source>
            <translation>近似匹配</translation>
        </message>
        <message>
            <source>default</source>
            <translation>默认调度</translation>
        </message>
        <message>
            <source>untuned</source>
            <translation>未调优</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::GraphView</name>
        <message>
            <source>The network is too large to show at once: some groups stay folded.</source>
            <translation>网络太大，无法一次全部显示：部分分组保持折叠。</translation>
        </message>
        <message>
            <source>Other groups were folded: at most %1 items are drawn at once.</source>
            <translation>其他分组已折叠：一次最多绘制 %1 个元素。</translation>
        </message>
        <message numerus="yes">
            <source>%n nodes; double-click to unfold</source>
            <translation>
                <numerusform>%n 个节点；双击展开</numerusform>
            </translation>
        </message>
        <message>
            <source>Task %1</source>
            <translation>任务 %1</translation>
        </message>
        <message>
            <source>No task: %1</source>
            <translation>无任务：%1</translation>
        </message>
        <message>
            <source>No network is open</source>
            <translation>未打开网络</translation>
        </message>
        <message>
            <source>The network is empty</source>
            <translation>网络是空的</translation>
        </message>
        <message numerus="yes">
            <source>%n items</source>
            <translation>
                <numerusform>%n 个元素</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <source>%n of them groups</source>
            <translation>
                <numerusform>其中 %n 个是分组</numerusform>
            </translation>
        </message>
        <message>
            <source>Selected: %1</source>
            <translation>已选：%1</translation>
        </message>
        <message>
            <source>Copied the network&apos;s picture.</source>
            <translation>网络图片已复制。</translation>
        </message>
        <message>
            <source>Computing a better layout…</source>
            <translation>正在计算更好的布局…</translation>
        </message>
        <message>
            <source>Select another node and press W to show the path between the two.</source>
            <translation>选择另一个节点并按 W：将显示两者之间的路径。</translation>
        </message>
        <message>
            <source>&amp;Unfold</source>
            <translation>展开(&amp;U)</translation>
        </message>
        <message>
            <source>Show &amp;weights</source>
            <translation>显示权重(&amp;W)</translation>
        </message>
        <message>
            <source>&amp;Copy the name</source>
            <translation>复制名称(&amp;C)</translation>
        </message>
        <message>
            <source>Show the path from the &amp;selected node</source>
            <translation>显示从所选节点到此处的路径(&amp;S)</translation>
        </message>
        <message>
            <source>&amp;Hide the path</source>
            <translation>隐藏路径(&amp;H)</translation>
        </message>
        <message>
            <source>&amp;Fold all</source>
            <translation>全部折叠(&amp;F)</translation>
        </message>
        <message>
            <source>Unfold &amp;all</source>
            <translation>全部展开(&amp;A)</translation>
        </message>
        <message>
            <source>&amp;Zoom to fit</source>
            <translation>适合窗口(&amp;Z)</translation>
        </message>
        <message>
            <source>Copy the &amp;picture</source>
            <translation>复制图片(&amp;P)</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::HardwareModel</name>
        <message>
            <source>%1 is not an integer</source>
            <translation>%1 不是整数</translation>
        </message>
        <message>
            <source>Parameter</source>
            <translation>参数</translation>
        </message>
        <message>
            <source>Value</source>
            <translation>数值</translation>
        </message>
        <message>
            <source>Unit</source>
            <translation>单位</translation>
        </message>
        <message>
            <source>Origin</source>
            <translation>来源</translation>
        </message>
        <message>
            <source>Meaning</source>
            <translation>含义</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::HeadStartMenu</name>
        <message>
            <source>Start runs with</source>
            <translation>选择运行的起点</translation>
        </message>
        <message>
            <source>Head starts (*.headstart)</source>
            <translation>热启动文件 (*.headstart)</translation>
        </message>
        <message>
            <source>Start &amp;with</source>
            <translation>起点(&amp;B)</translation>
        </message>
        <message>
            <source>Candidates and measurements of similar tasks, if some are installed for the target</source>
            <translation>相似任务的候选程序和测量数据（若已为该目标安装）</translation>
        </message>
        <message>
            <source>&amp;Nothing</source>
            <translation>从零开始(&amp;N)</translation>
        </message>
        <message>
            <source>Runs start without results of others, for comparisons</source>
            <translation>运行不借鉴其他结果，便于比较</translation>
        </message>
        <message>
            <source>A &amp;file…</source>
            <translation>文件(&amp;F)…</translation>
        </message>
        <message>
            <source>Made by lathe-cli head-start make from tuned projects</source>
            <translation>由 lathe-cli head-start make 根据调优过的项目生成</translation>
        </message>
        <message>
            <source>The &amp;installed one</source>
            <translation>随程序安装的数据(&amp;I)</translation>
        </message>
        <message>
            <source>The &amp;installed one (none for this target)</source>
            <translation>随程序安装的数据（没有适用于该目标的）(&amp;I)</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::HoldButton</name>
        <message>
            <source>Hol&amp;d</source>
            <translation>保持(&amp;D)</translation>
        </message>
        <message>
            <source>Freeze curves, rounds and times while the run continues</source>
            <translation>运行继续时冻结曲线、轮次和耗时</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::IssueModel</name>
        <message>
            <source>Issue</source>
            <translation>问题</translation>
        </message>
        <message>
            <source>Count</source>
            <translation>次数</translation>
        </message>
        <message>
            <source>Where</source>
            <translation>位置</translation>
        </message>
        <message>
            <source>Message</source>
            <translation>消息</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::IssuesPage</name>
        <message>
            <source>Issues</source>
            <translation>问题</translation>
        </message>
        <message>
            <source>Input si&amp;zes…</source>
            <translation>输入尺寸(&amp;Z)…</translation>
        </message>
        <message>
            <source>&amp;List what is not supported…</source>
            <translation>列出不支持的内容(&amp;L)…</translation>
        </message>
        <message>
            <source>Show the &amp;task</source>
            <translation>显示任务(&amp;T)</translation>
        </message>
        <message>
            <source>Show the &amp;node</source>
            <translation>显示节点(&amp;N)</translation>
        </message>
        <message>
            <source>Open the &amp;manual here</source>
            <translation>打开手册的相关章节(&amp;M)</translation>
        </message>
        <message>
            <source>No issues.</source>
            <translation>没有问题。</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::LatencyChart</name>
        <message>
            <source>likely range</source>
            <translation>可能范围</translation>
        </message>
        <message>
            <source>estimated network</source>
            <translation>估计（整个网络）</translation>
        </message>
        <message>
            <source>measured network</source>
            <translation>实测（整个网络）</translation>
        </message>
        <message>
            <source>untuned</source>
            <translation>未调优</translation>
        </message>
        <message>
            <source>Time (s)</source>
            <translation>时间（秒）</translation>
        </message>
        <message>
            <source>Latency (ms)</source>
            <translation>延迟（毫秒）</translation>
        </message>
        <message>
            <source>Latency over time</source>
            <translation>延迟随时间的变化</translation>
        </message>
        <message>
            <source>Nothing measured yet</source>
            <translation>尚未测量</translation>
        </message>
        <message>
            <source>Curve</source>
            <translation>曲线</translation>
        </message>
        <message>
            <source>low</source>
            <translation>下限</translation>
        </message>
        <message>
            <source>high</source>
            <translation>上限</translation>
        </message>
        <message>
            <source>sum of tasks</source>
            <translation>任务之和</translation>
        </message>
        <message>
            <source>chain</source>
            <translation>衔接</translation>
        </message>
        <message>
            <source>call</source>
            <translation>调用</translation>
        </message>
        <message>
            <source>tasks</source>
            <translation>任务</translation>
        </message>
        <message>
            <source>untuned functions</source>
            <translation>未调优的函数</translation>
        </message>
        <message>
            <source>%1, measured</source>
            <translation>%1，实测</translation>
        </message>
        <message>
            <source>%1 s</source>
            <translation>%1 秒</translation>
        </message>
        <message>
            <source>1 trial</source>
            <translation>1 次试验</translation>
        </message>
        <message>
            <source>%1 trials</source>
            <translation>%1 次试验</translation>
        </message>
        <message>
            <source>Latency (µs)</source>
            <translation>延迟（微秒）</translation>
        </message>
        <message>
            <source>Show it &amp;alone</source>
            <translation>只显示它(&amp;A)</translation>
        </message>
        <message>
            <source>&amp;Hide it</source>
            <translation>隐藏它(&amp;H)</translation>
        </message>
        <message>
            <source>&amp;Lines</source>
            <translation>曲线(&amp;L)</translation>
        </message>
        <message>
            <source>&amp;Show all</source>
            <translation>全部显示(&amp;S)</translation>
        </message>
        <message>
            <source>Lo&amp;garithmic</source>
            <translation>对数(&amp;G)</translation>
        </message>
        <message>
            <source>Copy these &amp;values</source>
            <translation>复制这些数值(&amp;V)</translation>
        </message>
        <message>
            <source>estimated %1</source>
            <translation>估计 %1</translation>
        </message>
        <message>
            <source>measured %1</source>
            <translation>实测 %1</translation>
        </message>
        <message>
            <source>untuned %1</source>
            <translation>未调优 %1</translation>
        </message>
        <message>
            <source>%1 after %2</source>
            <translation>%1，历时 %2</translation>
        </message>
        <message>
            <source>, </source>
            <translation>，</translation>
        </message>
        <message>
            <source>estimated %1 (some tasks have no program yet)</source>
            <translation>估计 %1（部分任务还没有程序）</translation>
        </message>
        <message numerus="yes">
            <source>and %n more</source>
            <translation>
                <numerusform>另有 %n 项</numerusform>
            </translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::LogPage</name>
        <message>
            <source>Log</source>
            <translation>日志</translation>
        </message>
        <message>
            <source>&amp;Follow</source>
            <translation>跟随(&amp;F)</translation>
        </message>
        <message>
            <source>Go to the end and follow new lines (Ctrl+End)</source>
            <translation>转到末尾并跟随新行 (Ctrl+End)</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::MainWindow</name>
        <message>
            <source>Trials of this network in the project: %L1, of the latest run: %L2, failed: %L3. Records are more: they also hold what was measured again.</source>
            <translation>项目中此网络的试验：%L1，其中最近一次运行：%L2，失败：%L3。记录更多：还包括重新测量的结果。</translation>
        </message>
        <message>
            <source>Measured and untuned: in turns, in the same seconds. Alone, in other minutes, they took %1 and %2.</source>
            <translation>实测与未调优：在同样的几秒内轮流测量。在其他时刻单独测量时为 %1 和 %2。</translation>
        </message>
        <message>
            <source>Save layout</source>
            <translation>保存布局</translation>
        </message>
        <message>
            <source>Name of the layout:</source>
            <translation>布局名称：</translation>
        </message>
        <message>
            <source>&amp;Remove</source>
            <translation>移除(&amp;R)</translation>
        </message>
        <message>
            <source>Opening %1…</source>
            <translation>正在打开 %1 …</translation>
        </message>
        <message>
            <source>budget</source>
            <translation>预算</translation>
        </message>
        <message>
            <source>Open a model</source>
            <translation>打开模型</translation>
        </message>
        <message>
            <source>ONNX models (*.onnx);;Projects (*.lathe);;All files (*)</source>
            <translation>ONNX 模型 (*.onnx);;项目 (*.lathe);;所有文件 (*)</translation>
        </message>
        <message>
            <source>Open a project</source>
            <translation>打开项目</translation>
        </message>
        <message>
            <source>Projects (*.lathe)</source>
            <translation>项目 (*.lathe)</translation>
        </message>
        <message>
            <source>%1 – Lathe</source>
            <translation>%1 – Lathe</translation>
        </message>
        <message>
            <source>No network is open</source>
            <translation>未打开网络</translation>
        </message>
        <message>
            <source>estimated %1   measured %2   untuned %3</source>
            <translation>估计 %1   实测 %2   未调优 %3</translation>
        </message>
        <message>
            <source>expected %1   nothing is measured</source>
            <translation>预期 %1   没有实测值</translation>
        </message>
        <message numerus="yes">
            <source>%Ln trials</source>
            <translation>
                <numerusform>%Ln 次试验</numerusform>
            </translation>
        </message>
        <message>
            <source>, %1/s</source>
            <translation>，%1 次/秒</translation>
        </message>
        <message>
            <source>, %1 % failed</source>
            <translation>，%1 % 失败</translation>
        </message>
        <message>
            <source>no run yet</source>
            <translation>尚未运行</translation>
        </message>
        <message>
            <source>Settings</source>
            <translation>设置</translation>
        </message>
        <message>
            <source>Copied: %1</source>
            <translation>已复制：%1</translation>
        </message>
        <message>
            <source>Drop to open %1</source>
            <translation>松开鼠标以打开 %1</translation>
        </message>
        <message>
            <source>Only one file is opened at a time: the others were ignored</source>
            <translation>一次只打开一个文件：其余的未打开</translation>
        </message>
        <message>
            <source>There is no view to save here</source>
            <translation>这里没有可保存的视图</translation>
        </message>
        <message>
            <source>save</source>
            <translation>保存</translation>
        </message>
        <message>
            <source>An exported library cannot be opened; use lathe-cli bench or lathe-cli verify</source>
            <translation>无法打开已导出的库；请使用 lathe-cli bench 和 lathe-cli verify</translation>
        </message>
        <message>
            <source>&amp;Undo: %1</source>
            <translation>撤销(&amp;U)：%1</translation>
        </message>
        <message>
            <source>&amp;Redo: %1</source>
            <translation>重做(&amp;R)：%1</translation>
        </message>
        <message>
            <source>Note on the project</source>
            <translation>项目备注</translation>
        </message>
        <message>
            <source>Stored with the project and shown above its records:</source>
            <translation>随项目保存，显示在记录列表上方：</translation>
        </message>
        <message>
            <source>Replay a project&apos;s latest run</source>
            <translation>回放项目最近一次运行</translation>
        </message>
        <message>
            <source>Replay of %1 – Lathe</source>
            <translation>回放 %1 – Lathe</translation>
        </message>
        <message>
            <source>Open the network of this log, or its project; then the log is imported into it</source>
            <translation>请打开此日志所属的网络或其项目，随后日志会导入其中</translation>
        </message>
        <message>
            <source>A replay is read-only: open the project itself to import a log</source>
            <translation>回放是只读的：请打开项目本身再导入日志</translation>
        </message>
        <message>
            <source>Import tuning logs</source>
            <translation>导入调优日志</translation>
        </message>
        <message>
            <source>Tuning logs (*.json *.jsonl *.log);;All files (*)</source>
            <translation>调优日志 (*.json *.jsonl *.log);;所有文件 (*)</translation>
        </message>
        <message>
            <source>not running</source>
            <translation>未在运行</translation>
        </message>
        <message>
            <source>%1:  %2</source>
            <translation>%1：%2</translation>
        </message>
        <message>
            <source>Not started: this network has no tasks to tune</source>
            <translation>未开始：该网络没有可以调优的任务</translation>
        </message>
        <message>
            <source>Run in progress</source>
            <translation>运行正在进行</translation>
        </message>
        <message>
            <source>Closing the window stops the run. You can resume it later.</source>
            <translation>关闭窗口会停止运行。以后可以继续。</translation>
        </message>
        <message>
            <source>&amp;Stop and close</source>
            <translation>停止并关闭(&amp;S)</translation>
        </message>
        <message>
            <source>&amp;Keep running</source>
            <translation>继续运行(&amp;K)</translation>
        </message>
        <message>
            <source>&amp;Do not ask again</source>
            <translation>不再询问(&amp;D)</translation>
        </message>
        <message>
            <source>Sum of the tasks: %1</source>
            <translation>任务之和：%1</translation>
        </message>
        <message>
            <source>The budget changes after this round</source>
            <translation>预算将在本轮之后改变</translation>
        </message>
        <message>
            <source>Pausing after this round</source>
            <translation>本轮之后暂停</translation>
        </message>
        <message>
            <source>Paused, %1 left</source>
            <translation>已暂停，剩余 %1</translation>
        </message>
        <message>
            <source>Paused</source>
            <translation>已暂停</translation>
        </message>
        <message>
            <source>The next run measures on devices of the key %1</source>
            <translation>下一次运行在键 %1 的设备上测量</translation>
        </message>
        <message>
            <source>The devices of the key %1 do not measure for the target %2: choose another target first</source>
            <translation>键 %1 的设备不能为目标 %2 测量：请先选择其他目标</translation>
        </message>
        <message>
            <source>The broker is %1</source>
            <translation>代理是 %1</translation>
        </message>
        <message>
            <source>Farm: connecting…</source>
            <translation>设备群：正在连接…</translation>
        </message>
        <message numerus="yes">
            <source>Farm: %n devices, %1 free</source>
            <translation>
                <numerusform>设备群：%n 个设备，%1 个空闲</numerusform>
            </translation>
        </message>
        <message>
            <source>, you wait at place %1</source>
            <translation>，您排在第 %1 位</translation>
        </message>
        <message>
            <source>▲ Broker does not answer</source>
            <translation>▲ 代理没有应答</translation>
        </message>
        <message>
            <source>The broker %1 was heard last at %2</source>
            <translation>最后一次收到代理 %1 的消息是在 %2</translation>
        </message>
        <message>
            <source>▲ Farm: not connected</source>
            <translation>▲ 设备群：未连接</translation>
        </message>
        <message>
            <source>policy %1</source>
            <translation>策略 %1</translation>
        </message>
        <message>
            <source>preset %1</source>
            <translation>预设 %1</translation>
        </message>
        <message>
            <source>tuner %1</source>
            <translation>调优器 %1</translation>
        </message>
        <message>
            <source>not all tasks</source>
            <translation>并非全部任务</translation>
        </message>
        <message>
            <source>The next run: %1</source>
            <translation>下一次运行：%1</translation>
        </message>
    </context>
    <context>
        <name>Options</name>
        <message>
            <source>Options that are not given have their default values. `lathe-cli COMMAND --help` lists those of each command, and `man lathe-cli` all of them.</source>
            <translation>未给出的选项取默认值（default）。`lathe-cli COMMAND --help` 列出每个命令的选项，`man lathe-cli` 列出全部。</translation>
        </message>
        <message>
            <source>option</source>
            <translation>选项</translation>
        </message>
        <message>
            <source>description</source>
            <translation>说明</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::ManualWindow</name>
        <message>
            <source>Manual – Lathe</source>
            <translation>手册 – Lathe</translation>
        </message>
        <message>
            <source>Search the manual</source>
            <translation>搜索手册</translation>
        </message>
        <message>
            <source>Contents</source>
            <translation>目录</translation>
        </message>
        <message>
            <source>Text of the manual</source>
            <translation>手册正文</translation>
        </message>
        <message>
            <source>Back (Alt+Left)</source>
            <translation>后退（Alt+左）</translation>
        </message>
        <message>
            <source>Back</source>
            <translation>后退</translation>
        </message>
        <message>
            <source>Forward (Alt+Right)</source>
            <translation>前进（Alt+右）</translation>
        </message>
        <message>
            <source>Forward</source>
            <translation>前进</translation>
        </message>
        <message>
            <source>Command</source>
            <translation>命令</translation>
        </message>
        <message>
            <source>Keys</source>
            <translation>快捷键</translation>
        </message>
        <message>
            <source>Nothing found</source>
            <translation>未找到</translation>
        </message>
        <message>
            <source>Topics found: %1</source>
            <translation>找到的主题：%1</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::NetworkPage</name>
        <message>
            <source>Network graph</source>
            <translation>网络图</translation>
        </message>
        <message>
            <source>Find name, type, shape</source>
            <translation>查找名称、类型、形状</translation>
        </message>
        <message>
            <source>Find nodes by name, type or shape</source>
            <translation>按名称、类型或形状查找节点</translation>
        </message>
        <message>
            <source>Colour: task</source>
            <translation>颜色：任务</translation>
        </message>
        <message>
            <source>Colour: share of run time</source>
            <translation>颜色：运行时间占比</translation>
        </message>
        <message>
            <source>Colour: layout</source>
            <translation>颜色：数据布局</translation>
        </message>
        <message>
            <source>Colour: coverage</source>
            <translation>颜色：覆盖情况</translation>
        </message>
        <message>
            <source>What the colours show</source>
            <translation>颜色的含义</translation>
        </message>
        <message>
            <source>Fold all</source>
            <translation>全部折叠</translation>
        </message>
        <message>
            <source>Unfold all</source>
            <translation>全部展开</translation>
        </message>
        <message>
            <source>Overview</source>
            <translation>概览</translation>
        </message>
        <message>
            <source>Save picture…</source>
            <translation>保存图片…</translation>
        </message>
        <message>
            <source>Network</source>
            <translation>网络</translation>
        </message>
        <message>
            <source>none</source>
            <translation>无</translation>
        </message>
        <message numerus="yes">
            <source>%n found</source>
            <translation>
                <numerusform>找到 %n 个</numerusform>
            </translation>
        </message>
        <message>
            <source>%1 of %2</source>
            <translation>第 %1 个，共 %2 个</translation>
        </message>
        <message>
            <source>Save network picture</source>
            <translation>保存网络图片</translation>
        </message>
        <message>
            <source>SVG image (*.svg);;PNG image (*.png)</source>
            <translation>SVG 图像 (*.svg);;PNG 图像 (*.png)</translation>
        </message>
        <message>
            <source>The picture cannot be written</source>
            <translation>无法写入图片</translation>
        </message>
        <message>
            <source>%1 A plain layout is shown instead.</source>
            <translation>%1现以简单布局显示。</translation>
        </message>
        <message>
            <source>Names</source>
            <translation>名称</translation>
        </message>
        <message>
            <source>Show the model&apos;s names of the nodes instead of their operators</source>
            <translation>显示模型中的节点名称，而不是算子</translation>
        </message>
        <message>
            <source>Hide the path (Esc)</source>
            <translation>隐藏路径 (Esc)</translation>
        </message>
        <message>
            <source>Hide the path</source>
            <translation>隐藏路径</translation>
        </message>
        <message>
            <source>Nothing leads from %1 to %2: they are on different branches.</source>
            <translation>%1 与 %2 之间没有路径：它们在不同的分支上。</translation>
        </message>
        <message>
            <source>%1 to %2 edges long</source>
            <translation>长 %1 到 %2 条边</translation>
        </message>
        <message>
            <source>%1 paths</source>
            <translation>%1 条路径</translation>
        </message>
        <message>
            <source>1 edge long</source>
            <translation>长 1 条边</translation>
        </message>
        <message>
            <source>%1 edges long</source>
            <translation>长 %1 条边</translation>
        </message>
        <message>
            <source>1 path</source>
            <translation>1 条路径</translation>
        </message>
        <message>
            <source>From %1 to %2: %3, %4, through %5 nodes</source>
            <translation>从 %1 到 %2：%3，%4，经过 %5 个节点</translation>
        </message>
        <message>
            <source>Layouts</source>
            <translation>布局</translation>
        </message>
        <message>
            <source>Show in which layouts tensors are written and read, and what that costs</source>
            <translation>显示张量以哪种布局写入和读取，以及由此产生的代价</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::ProgramComparison</name>
        <message>
            <source>Left side</source>
            <translation>左侧</translation>
        </message>
        <message>
            <source>Right side</source>
            <translation>右侧</translation>
        </message>
        <message>
            <source>Form of the program</source>
            <translation>程序形式</translation>
        </message>
        <message>
            <source>Arrangement</source>
            <translation>排列方式</translation>
        </message>
        <message>
            <source>Schedule steps</source>
            <translation>调度步骤</translation>
        </message>
        <message>
            <source>Loop tree</source>
            <translation>循环树</translation>
        </message>
        <message>
            <source>Loop nest</source>
            <translation>循环嵌套</translation>
        </message>
        <message>
            <source>Side by side</source>
            <translation>并排</translation>
        </message>
        <message>
            <source>Unified</source>
            <translation>合并显示</translation>
        </message>
        <message>
            <source>&amp;Differences only</source>
            <translation>仅显示差异(&amp;D)</translation>
        </message>
        <message>
            <source>Add a baseline and select a task to see how its programs differ.</source>
            <translation>添加一个基线并选择一个任务，即可看到程序的差异。</translation>
        </message>
        <message>
            <source>%1: reading both programs…</source>
            <translation>%1：正在读取两边的程序…</translation>
        </message>
        <message>
            <source>%1: both programs are identical</source>
            <translation>%1：两边的程序相同</translation>
        </message>
        <message>
            <source>%1: lines only on the left (−): %2; only on the right (+): %3</source>
            <translation>%1：仅左侧 (−)：%2 行；仅右侧 (+)：%3 行</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::PropertiesPage</name>
        <message>
            <source>&amp;Copy</source>
            <translation>复制(&amp;C)</translation>
        </message>
        <message>
            <source>Expand &amp;all</source>
            <translation>全部展开(&amp;A)</translation>
        </message>
        <message>
            <source>Properties of the selected task and node</source>
            <translation>所选任务和节点的属性</translation>
        </message>
        <message>
            <source>Property</source>
            <translation>属性</translation>
        </message>
        <message>
            <source>Value</source>
            <translation>值</translation>
        </message>
        <message>
            <source>Select a task or a node.</source>
            <translation>请选择一个任务或节点。</translation>
        </message>
        <message>
            <source>Task</source>
            <translation>任务</translation>
        </message>
        <message>
            <source>Weight</source>
            <translation>权重</translation>
        </message>
        <message>
            <source>MFLOP</source>
            <translation>MFLOP</translation>
        </message>
        <message>
            <source>Best</source>
            <translation>最佳</translation>
        </message>
        <message>
            <source>Algorithm</source>
            <translation>算法</translation>
        </message>
        <message>
            <source>Alternatives</source>
            <translation>备选算法</translation>
        </message>
        <message>
            <source>Tensors</source>
            <translation>张量</translation>
        </message>
        <message>
            <source>input %1</source>
            <translation>输入 %1</translation>
        </message>
        <message>
            <source>output %1</source>
            <translation>输出 %1</translation>
        </message>
        <message>
            <source>Nodes</source>
            <translation>节点</translation>
        </message>
        <message>
            <source>Key</source>
            <translation>键</translation>
        </message>
        <message>
            <source>Loops of the best schedule</source>
            <translation>最佳调度的循环</translation>
        </message>
        <message>
            <source>Steps</source>
            <translation>步骤</translation>
        </message>
        <message>
            <source>Workload (%1)</source>
            <translation>工作负载（%1）</translation>
        </message>
        <message>
            <source>Node</source>
            <translation>节点</translation>
        </message>
        <message>
            <source>No task</source>
            <translation>无任务</translation>
        </message>
        <message>
            <source>Copy the &amp;value</source>
            <translation>复制值(&amp;V)</translation>
        </message>
        <message>
            <source>Compute DAG</source>
            <translation>计算 DAG</translation>
        </message>
        <message>
            <source>Show &amp;weights…</source>
            <translation>显示权重(&amp;W)…</translation>
        </message>
        <message>
            <source>weight %1</source>
            <translation>权重 %1</translation>
        </message>
        <message>
            <source>Name in the model</source>
            <translation>模型中的名称</translation>
        </message>
        <message>
            <source>%1. Double-click to see the values.</source>
            <translation>%1。双击可查看数值。</translation>
        </message>
        <message>
            <source>%1 to %2, mean %3, zeros %4 %</source>
            <translation>%1 到 %2，平均值 %3，零值 %4%</translation>
        </message>
        <message>
            <source>, NaN or infinite: %1</source>
            <translation>，NaN 或无穷：%1</translation>
        </message>
        <message>
            <source>Values</source>
            <translation>数值</translation>
        </message>
        <message>
            <source>Open a network to see its tasks and nodes.</source>
            <translation>打开网络后可看到它的任务和节点。</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::QualityPanel</name>
        <message>
            <source>Measurement quality by device</source>
            <translation>各设备的测量质量</translation>
        </message>
        <message>
            <source>Device</source>
            <translation>设备</translation>
        </message>
        <message>
            <source>Trials</source>
            <translation>试验</translation>
        </message>
        <message>
            <source>Rejected samples</source>
            <translation>作废的样本</translation>
        </message>
        <message>
            <source>Probes differ (%)</source>
            <translation>检查相差 (%)</translation>
        </message>
        <message>
            <source>Measured again, since the device was not as before afterwards</source>
            <translation>由于设备之后与之前不同而重新测量</translation>
        </message>
        <message>
            <source>The program that checks the device, from one time to the next, in the middle</source>
            <translation>检查设备的程序，前后两次用时之差的中位数</translation>
        </message>
        <message>
            <source>Measurement quality</source>
            <translation>测量质量</translation>
        </message>
        <message>
            <source>Figure</source>
            <translation>指标</translation>
        </message>
        <message>
            <source>First</source>
            <translation>最初</translation>
        </message>
        <message>
            <source>Now</source>
            <translation>现在</translation>
        </message>
        <message>
            <source>Lowest</source>
            <translation>最低</translation>
        </message>
        <message>
            <source>Highest</source>
            <translation>最高</translation>
        </message>
        <message>
            <source>Meaning</source>
            <translation>含义</translation>
        </message>
        <message>
            <source>Time by device</source>
            <translation>各设备耗时</translation>
        </message>
        <message>
            <source>measurement quality</source>
            <translation>测量质量</translation>
        </message>
        <message>
            <source>Spread of repeats (%)</source>
            <translation>重复测量的离散度（%）</translation>
        </message>
        <message>
            <source>slowest above fastest repeat, over trials with repeats</source>
            <translation>重复测量的试验中，最慢比最快多出的比例</translation>
        </message>
        <message>
            <source>Control kernel (µs)</source>
            <translation>对照内核（微秒）</translation>
        </message>
        <message>
            <source>always the same work: if it drifts, all figures drift</source>
            <translation>始终是同样的工作：它若漂移，所有数据都会漂移</translation>
        </message>
        <message>
            <source>Clock (MHz)</source>
            <translation>主频（MHz）</translation>
        </message>
        <message>
            <source>of the first core, while measuring</source>
            <translation>测量时第一个核心的主频</translation>
        </message>
        <message>
            <source>Temperature (°C)</source>
            <translation>温度（°C）</translation>
        </message>
        <message>
            <source>of the processor</source>
            <translation>处理器温度</translation>
        </message>
        <message>
            <source>Load</source>
            <translation>负载</translation>
        </message>
        <message>
            <source>runnable programs, over the last minute</source>
            <translation>最近一分钟内可运行的程序数</translation>
        </message>
        <message>
            <source>%1 (not available on this system)</source>
            <translation>%1（本系统不提供）</translation>
        </message>
        <message>
            <source>No rounds measured yet.</source>
            <translation>还没有测量过任何一轮。</translation>
        </message>
        <message>
            <source>This device has no control kernel: its drift is unknown.</source>
            <translation>此设备没有对照内核：漂移未知。</translation>
        </message>
        <message>
            <source>The control kernel takes %1 % longer than at the start: late measurements look slower than they are.</source>
            <translation>对照内核比开始时慢 %1 %：后面测得的结果会显得比实际慢。</translation>
        </message>
        <message>
            <source>The control kernel takes %1 % less time than at the start: early measurements look slower than they are.</source>
            <translation>对照内核比开始时快 %1 %：前面测得的结果会显得比实际慢。</translation>
        </message>
        <message>
            <source>The control kernel is as fast as at the start (%1 %).</source>
            <translation>对照内核与开始时一样快（%1 %）。</translation>
        </message>
        <message>
            <source>Where</source>
            <translation>地点</translation>
        </message>
        <message>
            <source>Search (s)</source>
            <translation>搜索（秒）</translation>
        </message>
        <message>
            <source>Build (s)</source>
            <translation>构建（秒）</translation>
        </message>
        <message>
            <source>Upload (s)</source>
            <translation>加载（秒）</translation>
        </message>
        <message>
            <source>Measure (s)</source>
            <translation>测量（秒）</translation>
        </message>
        <message>
            <source>Train (s)</source>
            <translation>训练（秒）</translation>
        </message>
        <message>
            <source>Other (s)</source>
            <translation>其他（秒）</translation>
        </message>
        <message>
            <source>Idle (s)</source>
            <translation>空闲（秒）</translation>
        </message>
        <message>
            <source>Computing reference outputs, writing results to disk</source>
            <translation>计算参考输出，将结果写入磁盘</translation>
        </message>
        <message>
            <source>this machine, for all devices</source>
            <translation>本机（为所有设备）</translation>
        </message>
        <message>
            <source>unnamed device</source>
            <translation>未命名的设备</translation>
        </message>
        <message>
            <source>%1 (%2 %)</source>
            <translation>%1（%2 %）</translation>
        </message>
        <message>
            <source>Taken by others (%)</source>
            <translation>其他程序占用（%）</translation>
        </message>
        <message>
            <source>processor time used by other programs, over all processors</source>
            <translation>其他程序占全部处理器时间的比例</translation>
        </message>
        <message>
            <source>Stolen (%)</source>
            <translation>虚拟机占用（%）</translation>
        </message>
        <message>
            <source>processor time used by other virtual machines</source>
            <translation>其他虚拟机占用的处理器时间</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::RecordDetailPage</name>
        <message>
            <source>No steps: the loops are those of the definition.</source>
            <translation>没有步骤：循环与定义中的一致。</translation>
        </message>
        <message>
            <source>Copy</source>
            <translation>复制</translation>
        </message>
        <message>
            <source>Copy the whole text of this tab</source>
            <translation>复制此标签页的全部文字</translation>
        </message>
        <message>
            <source>Overview</source>
            <translation>概览</translation>
        </message>
        <message>
            <source>Steps</source>
            <translation>步骤</translation>
        </message>
        <message>
            <source>Loops</source>
            <translation>循环</translation>
        </message>
        <message>
            <source>Program</source>
            <translation>程序</translation>
        </message>
        <message>
            <source>Features</source>
            <translation>特征</translation>
        </message>
        <message>
            <source>Property</source>
            <translation>属性</translation>
        </message>
        <message>
            <source>Value</source>
            <translation>值</translation>
        </message>
        <message>
            <source>Feature</source>
            <translation>特征</translation>
        </message>
        <message>
            <source>Non-zero reference features of this schedule</source>
            <translation>此调度的参考特征（非零部分）</translation>
        </message>
        <message>
            <source>Select a trial to see its schedule, program and code.</source>
            <translation>选择一次试验，可查看其调度、程序和代码。</translation>
        </message>
        <message>
            <source>another network's task</source>
            <translation>其他网络的任务</translation>
        </message>
        <message>
            <source>&lt;b&gt;%1&lt;/b&gt; – %2, %3</source>
            <translation>&lt;b&gt;%1&lt;/b&gt; – %2，%3</translation>
        </message>
        <message>
            <source>&lt;b&gt;%1&lt;/b&gt; – %2 while %3</source>
            <translation>&lt;b&gt;%1&lt;/b&gt; – %2，发生于%3</translation>
        </message>
        <message>
            <source>Text</source>
            <translation>文字</translation>
        </message>
        <message>
            <source>What helps</source>
            <translation>解决办法</translation>
        </message>
        <message>
            <source>Latency</source>
            <translation>延迟</translation>
        </message>
        <message>
            <source>Repeats (ms)</source>
            <translation>各次重复（毫秒）</translation>
        </message>
        <message>
            <source>%1 (the trial: %2 % of it)</source>
            <translation>%1（试验结果为其 %2 %）</translation>
        </message>
        <message>
            <source>Predicted</source>
            <translation>预测</translation>
        </message>
        <message>
            <source>Outputs checked</source>
            <translation>输出已检查</translation>
        </message>
        <message>
            <source>yes, equal to reference</source>
            <translation>是，与参考一致</translation>
        </message>
        <message>
            <source>no</source>
            <translation>否</translation>
        </message>
        <message>
            <source>Algorithm</source>
            <translation>算法</translation>
        </message>
        <message>
            <source>Sketch</source>
            <translation>草图</translation>
        </message>
        <message>
            <source>Genome</source>
            <translation>基因组</translation>
        </message>
        <message>
            <source>Run, round, position</source>
            <translation>运行、轮次、位置</translation>
        </message>
        <message>
            <source>Time</source>
            <translation>时间</translation>
        </message>
        <message>
            <source>Trial</source>
            <translation>试验</translation>
        </message>
        <message>
            <source>Candidate</source>
            <translation>候选</translation>
        </message>
        <message>
            <source>Time spent (ms)</source>
            <translation>耗时（毫秒）</translation>
        </message>
        <message>
            <source>Conditions</source>
            <translation>条件</translation>
        </message>
        <message>
            <source>Device</source>
            <translation>设备</translation>
        </message>
        <message>
            <source>Compiling…</source>
            <translation>正在编译…</translation>
        </message>
        <message>
            <source>Copy this &amp;tab</source>
            <translation>复制此页(&amp;T)</translation>
        </message>
        <message>
            <source>Copy &amp;everything</source>
            <translation>全部复制(&amp;E)</translation>
        </message>
        <message>
            <source>A note on this trial</source>
            <translation>此试验的备注</translation>
        </message>
        <message>
            <source>Saved with the project when you leave the field or press Ctrl+Enter</source>
            <translation>离开输入框或按 Ctrl+Enter 时随项目保存</translation>
        </message>
        <message>
            <source>Repeats</source>
            <translation>重复自</translation>
        </message>
        <message>
            <source>trial %1</source>
            <translation>试验 %1</translation>
        </message>
        <message>
            <source>Measured again</source>
            <translation>重新测量</translation>
        </message>
        <message>
            <source>once</source>
            <translation>一次</translation>
        </message>
        <message>
            <source>%1 times</source>
            <translation>%1 次</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::RecordModel</name>
        <message>
            <source>(other network)</source>
            <translation>（其他网络的）</translation>
        </message>
        <message>
            <source>valid</source>
            <translation>有效</translation>
        </message>
        <message>
            <source>yes</source>
            <translation>是</translation>
        </message>
        <message>
            <source>Predicted by the search when it chose this candidate</source>
            <translation>搜索选择该候选程序时的预测</translation>
        </message>
        <message>
            <source>Time</source>
            <translation>时间</translation>
        </message>
        <message>
            <source>Task</source>
            <translation>任务</translation>
        </message>
        <message>
            <source>Latency (ms)</source>
            <translation>延迟（毫秒）</translation>
        </message>
        <message>
            <source>Predicted (ms)</source>
            <translation>预测（毫秒）</translation>
        </message>
        <message>
            <source>State</source>
            <translation>状态</translation>
        </message>
        <message>
            <source>Algorithm</source>
            <translation>算法</translation>
        </message>
        <message>
            <source>Sketch</source>
            <translation>草图</translation>
        </message>
        <message>
            <source>Round</source>
            <translation>轮次</translation>
        </message>
        <message>
            <source>Verified</source>
            <translation>已验证</translation>
        </message>
        <message>
            <source>Trial</source>
            <translation>试验</translation>
        </message>
        <message>
            <source>Text</source>
            <translation>文字</translation>
        </message>
        <message>
            <source>Note</source>
            <translation>备注</translation>
        </message>
        <message>
            <source>Repeats</source>
            <translation>重复自</translation>
        </message>
        <message>
            <source>The trial whose candidate was measured again</source>
            <translation>其候选程序被重新测量的试验</translation>
        </message>
        <message>
            <source>runoff</source>
            <translation>加赛</translation>
        </message>
        <message>
            <source>finals</source>
            <translation>决赛</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::RecordTable</name>
        <message>
            <source>&amp;Copy</source>
            <translation>复制(&amp;C)</translation>
        </message>
        <message>
            <source>&amp;Export the list…</source>
            <translation>导出列表(&amp;E)…</translation>
        </message>
        <message>
            <source>&amp;Measure again</source>
            <translation>重新测量(&amp;M)</translation>
        </message>
        <message>
            <source>&amp;Note…</source>
            <translation>备注(&amp;N)…</translation>
        </message>
        <message>
            <source>Copy command line: measure again</source>
            <translation>复制命令行：重新测量</translation>
        </message>
        <message>
            <source>Copy command line: export the list</source>
            <translation>复制命令行：导出列表</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::RecordsPage</name>
        <message>
            <source>%1, of all targets</source>
            <translation>%1，所有目标</translation>
        </message>
        <message>
            <source>records</source>
            <translation>记录</translation>
        </message>
        <message>
            <source>Task</source>
            <translation>任务</translation>
        </message>
        <message>
            <source>State</source>
            <translation>状态</translation>
        </message>
        <message>
            <source>from ms</source>
            <translation>毫秒起</translation>
        </message>
        <message>
            <source>to ms</source>
            <translation>毫秒止</translation>
        </message>
        <message>
            <source>Latency from, in ms</source>
            <translation>延迟下限（毫秒）</translation>
        </message>
        <message>
            <source>Latency to, in ms</source>
            <translation>延迟上限（毫秒）</translation>
        </message>
        <message>
            <source>Show all</source>
            <translation>全部显示</translation>
        </message>
        <message>
            <source>Clear all filters</source>
            <translation>清除所有筛选条件</translation>
        </message>
        <message>
            <source>Export…</source>
            <translation>导出…</translation>
        </message>
        <message>
            <source>Save the list as CSV or JSON lines</source>
            <translation>将列表保存为 CSV 或 JSON 行</translation>
        </message>
        <message>
            <source>Trials</source>
            <translation>试验</translation>
        </message>
        <message>
            <source>any state</source>
            <translation>任意状态</translation>
        </message>
        <message>
            <source>valid</source>
            <translation>有效</translation>
        </message>
        <message>
            <source>failed</source>
            <translation>失败</translation>
        </message>
        <message>
            <source>all tasks</source>
            <translation>所有任务</translation>
        </message>
        <message>
            <source>reading…</source>
            <translation>正在读取…</translation>
        </message>
        <message>
            <source>found: %1</source>
            <translation>找到 %1 条</translation>
        </message>
        <message>
            <source>%1 records</source>
            <translation>%1 条记录</translation>
        </message>
        <message>
            <source>CSV (*.csv);;JSON lines (*.jsonl)</source>
            <translation>CSV (*.csv);;JSON 行 (*.jsonl)</translation>
        </message>
        <message>
            <source>Exported the list to %1</source>
            <translation>列表已导出到 %1</translation>
        </message>
        <message>
            <source>export</source>
            <translation>导出</translation>
        </message>
        <message>
            <source>Notes</source>
            <translation>有备注</translation>
        </message>
        <message>
            <source>Only trials with a note</source>
            <translation>仅显示有备注的试验</translation>
        </message>
        <message>
            <source>Measure again</source>
            <translation>重新测量</translation>
        </message>
        <message>
            <source>Build and measure the selected trials again; the results are new trials</source>
            <translation>重新编译并测量所选试验；结果记为新的试验</translation>
        </message>
        <message>
            <source>Find algorithm, sketch, note, failure text or trial</source>
            <translation>查找算法、草图、备注、错误文本或试验</translation>
        </message>
        <message>
            <source>Chart</source>
            <translation>散点图</translation>
        </message>
        <message>
            <source>Plot the listed trials by two of their numbers</source>
            <translation>以任意两个数值为坐标显示列表中的试验</translation>
        </message>
        <message>
            <source>Copied: %1</source>
            <translation>已复制：%1</translation>
        </message>
        <message>
            <source>The first %1 of the selected trials are measured again</source>
            <translation>将重新测量所选试验中的前 %1 个</translation>
        </message>
        <message>
            <source>Export one trial</source>
            <translation>导出一次试验</translation>
        </message>
        <message>
            <source>Export %1 trials</source>
            <translation>导出 %1 次试验</translation>
        </message>
        <message>
            <source>1 record</source>
            <translation>1 条记录</translation>
        </message>
        <message>
            <source>Run</source>
            <translation>运行</translation>
        </message>
        <message>
            <source>Target</source>
            <translation>目标</translation>
        </message>
        <message>
            <source>all runs</source>
            <translation>所有运行</translation>
        </message>
        <message>
            <source>all targets</source>
            <translation>所有目标</translation>
        </message>
        <message>
            <source>run %1, %2</source>
            <translation>运行 %1，%2</translation>
        </message>
        <message>
            <source>Show the trials of this &amp;run</source>
            <translation>显示此运行的试验(&amp;R)</translation>
        </message>
        <message>
            <source>Show the &amp;trial</source>
            <translation>显示该试验(&amp;T)</translation>
        </message>
        <message>
            <source>Open a network to see its trials.</source>
            <translation>打开网络后可看到它的试验。</translation>
        </message>
        <message>
            <source>No trial matches the filters.</source>
            <translation>没有试验符合筛选条件。</translation>
        </message>
        <message>
            <source>No trials yet. Start a run to see them here.</source>
            <translation>还没有试验。开始运行后将显示在这里。</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::RemeasureBar</name>
        <message>
            <source>Stop</source>
            <translation>停止</translation>
        </message>
        <message>
            <source>Close</source>
            <translation>关闭</translation>
        </message>
        <message>
            <source>Hide this bar</source>
            <translation>隐藏此行</translation>
        </message>
        <message>
            <source>Measuring one trial again…</source>
            <translation>正在重新测量一次试验…</translation>
        </message>
        <message>
            <source>Measuring %1 trials again…</source>
            <translation>正在重新测量 %1 次试验…</translation>
        </message>
        <message>
            <source>Measured again: %1; it had failed before.</source>
            <translation>重新测得：%1；此前失败。</translation>
        </message>
        <message>
            <source>Measured again: %1, before %2 (%3 %).</source>
            <translation>重新测得：%1，此前为 %2（%3 %）。</translation>
        </message>
        <message>
            <source>Measured again: %1 valid, %2 failed.</source>
            <translation>重新测量：%1 次有效，%2 次失败。</translation>
        </message>
        <message>
            <source>Not tried: %1</source>
            <translation>%1 次无法重试：</translation>
        </message>
        <message>
            <source>Progress</source>
            <translation>进度</translation>
        </message>
        <message>
            <source>Results so far are kept</source>
            <translation>已有的结果会保留</translation>
        </message>
        <message>
            <source>Importing %1…</source>
            <translation>正在导入 %1…</translation>
        </message>
        <message>
            <source>Importing %1 tuning logs…</source>
            <translation>正在导入 %1 个调优日志…</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::ReplayBar</name>
        <message>
            <source>Replay</source>
            <translation>回放</translation>
        </message>
        <message>
            <source>Replay: nothing is measured or changed</source>
            <translation>回放：不测量，也不改动任何内容</translation>
        </message>
        <message>
            <source>Replayed run</source>
            <translation>所回放的运行</translation>
        </message>
        <message>
            <source>Speed of the replay</source>
            <translation>回放速度</translation>
        </message>
        <message>
            <source>Seconds of the run per second</source>
            <translation>每秒回放运行的多少秒</translation>
        </message>
        <message>
            <source>Position in the run</source>
            <translation>运行中的位置</translation>
        </message>
        <message>
            <source>Open the project</source>
            <translation>打开项目</translation>
        </message>
        <message>
            <source>Leave the replay and open the project itself</source>
            <translation>离开回放，打开项目本身</translation>
        </message>
        <message>
            <source>run %1, %2, %3</source>
            <translation>运行 %1，%2，%3</translation>
        </message>
        <message>
            <source>Pause</source>
            <translation>暂停</translation>
        </message>
        <message>
            <source>Play</source>
            <translation>播放</translation>
        </message>
        <message>
            <source>Hold the replay</source>
            <translation>暂停回放</translation>
        </message>
        <message>
            <source>Play on, or from the beginning where it has ended</source>
            <translation>继续播放；已结束时从头播放</translation>
        </message>
        <message>
            <source>replay</source>
            <translation>回放</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::ReportDialog</name>
        <message>
            <source>Report</source>
            <translation>报告</translation>
        </message>
        <message>
            <source>Web pages (*.html)</source>
            <translation>网页 (*.html)</translation>
        </message>
        <message>
            <source>One self-contained web page: figures, curves, tasks with their records, failures, device and settings.</source>
            <translation>一个自包含的网页：数据、曲线、任务及其记录、失败、设备和设置。</translation>
        </message>
        <message>
            <source>&amp;File:</source>
            <translation>文件(&amp;F)：</translation>
        </message>
        <message>
            <source>File of the report</source>
            <translation>报告文件</translation>
        </message>
        <message>
            <source>C&amp;hoose…</source>
            <translation>选择(&amp;H)…</translation>
        </message>
        <message>
            <source>&amp;Copy command line</source>
            <translation>复制命令行(&amp;C)</translation>
        </message>
        <message>
            <source>&amp;Write</source>
            <translation>写入(&amp;W)</translation>
        </message>
        <message>
            <source>&amp;Open</source>
            <translation>打开(&amp;O)</translation>
        </message>
        <message>
            <source>C&amp;lose</source>
            <translation>关闭(&amp;L)</translation>
        </message>
        <message>
            <source>Writing…</source>
            <translation>正在写入…</translation>
        </message>
        <message>
            <source>Written: %1</source>
            <translation>已写入：%1</translation>
        </message>
        <message>
            <source>Not written: %1</source>
            <translation>未写入：%1</translation>
        </message>
        <message>
            <source>No web browser was found. The report is %1</source>
            <translation>找不到网页浏览器。报告是 %1</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::RoundModel</name>
        <message>
            <source>scheduler</source>
            <translation>调度器</translation>
        </message>
        <message>
            <source>another network's task</source>
            <translation>其他网络的任务</translation>
        </message>
        <message>
            <source>%1 left</source>
            <translation>剩余 %1</translation>
        </message>
        <message>
            <source>likely %1</source>
            <translation>很可能为 %1</translation>
        </message>
        <message>
            <source>the last %1 min gained %2 %</source>
            <translation>最近 %1 分钟提升了 %2 %</translation>
        </message>
        <message>
            <source>the last %1 s gained %2 %</source>
            <translation>最近 %1 秒提升了 %2 %</translation>
        </message>
        <message>
            <source>First round of %1: every task gets one.</source>
            <translation>%1 的第一轮：每个任务都有一轮。</translation>
        </message>
        <message>
            <source>%1 is pinned, and pinned tasks go first.</source>
            <translation>%1 已固定，固定的任务优先。</translation>
        </message>
        <message>
            <source>The round was interrupted with its run and continued.</source>
            <translation>该轮曾随运行中断，现已继续。</translation>
        </message>
        <message>
            <source>The gradient of the network's latency by %1 was the steepest: %2 (backward %3, forward %4, weight %5).</source>
            <translation>网络延迟对 %1 的梯度最陡：%2（向后 %3，向前 %4，权重 %5）。</translation>
        </message>
        <message>
            <source>Tasks take turns; rounds of %1 before: %2.</source>
            <translation>各任务轮流进行；%1 此前的轮数：%2。</translation>
        </message>
        <message>
            <source>Next was %1 with %2.</source>
            <translation>下一个是 %1，值为 %2。</translation>
        </message>
        <message>
            <source>its first round</source>
            <translation>第一轮</translation>
        </message>
        <message>
            <source>pinned</source>
            <translation>已固定</translation>
        </message>
        <message>
            <source>all have stopped</source>
            <translation>全部已停止</translation>
        </message>
        <message>
            <source>was cut short</source>
            <translation>曾被中断</translation>
        </message>
        <message>
            <source>its turn</source>
            <translation>轮到它</translation>
        </message>
        <message>
            <source>Rounds of the latest run</source>
            <translation>最近一次运行的各轮</translation>
        </message>
        <message>
            <source>Round</source>
            <translation>轮次</translation>
        </message>
        <message>
            <source>Time of the run at its end</source>
            <translation>该轮结束时的运行时间</translation>
        </message>
        <message>
            <source>At</source>
            <translation>时刻</translation>
        </message>
        <message>
            <source>Which task got the trials</source>
            <translation>哪个任务获得了试验</translation>
        </message>
        <message>
            <source>Task</source>
            <translation>任务</translation>
        </message>
        <message>
            <source>How many trials</source>
            <translation>试验次数</translation>
        </message>
        <message>
            <source>Trials</source>
            <translation>试验</translation>
        </message>
        <message>
            <source>Why this task</source>
            <translation>为什么选择此任务</translation>
        </message>
        <message>
            <source>Why</source>
            <translation>原因</translation>
        </message>
        <message>
            <source>What decided: expected gain of the network per second of search, or the reference's gradient</source>
            <translation>决定因素：每秒搜索对网络的预期提升，或参考实现的梯度</translation>
        </message>
        <message>
            <source>Next in line</source>
            <translation>下一个</translation>
        </message>
        <message>
            <source>Fastest trial of the round</source>
            <translation>该轮最快的试验</translation>
        </message>
        <message>
            <source>Best (ms)</source>
            <translation>最佳（毫秒）</translation>
        </message>
        <message>
            <source>Estimated latency of the network after it</source>
            <translation>该轮之后网络的估计延迟</translation>
        </message>
        <message>
            <source>Estimate (ms)</source>
            <translation>估计（毫秒）</translation>
        </message>
        <message>
            <source>Weight %1; its last rounds gained %2 each, about %3 more can be gained; a round takes %4 s.</source>
            <translation>其权重为 %1；最近各轮每轮提升 %2，估计还可提升约 %3；一轮需要 %4 秒。</translation>
        </message>
        <message>
            <source>All tasks had stopped; %1 had the largest expected gain.</source>
            <translation>所有任务都已停止；其中 %1 的预期收益最大。</translation>
        </message>
        <message>
            <source>%1 was expected to make the network %2 faster per second of search.</source>
            <translation>预计 %1 每搜索一秒能让网络快 %2。</translation>
        </message>
        <message>
            <source>largest expected gain</source>
            <translation>预期收益最大</translation>
        </message>
        <message>
            <source>Expected gain of the next task in line</source>
            <translation>下一个任务的预期收益</translation>
        </message>
        <message>
            <source>Expected gain</source>
            <translation>预期收益</translation>
        </message>
        <message numerus="yes">
            <source>%n candidates were rejected before building: more threads or memory than the device has.</source>
            <translation>
                <numerusform>%n 个候选在构建之前被拒绝：所需线程或内存超过设备所能提供的。</numerusform>
            </translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::RunBar</name>
        <message>
            <source>Begin a run that knows nothing of the earlier ones; their records stay</source>
            <translation>开始一次对先前运行一无所知的运行；其记录保留</translation>
        </message>
        <message>
            <source>Start o&amp;ver</source>
            <translation>从头开始(&amp;V)</translation>
        </message>
        <message>
            <source>&amp;Open</source>
            <translation>打开(&amp;O)</translation>
        </message>
        <message>
            <source>Open a model or project</source>
            <translation>打开模型或项目</translation>
        </message>
        <message>
            <source>&amp;Start</source>
            <translation>开始(&amp;S)</translation>
        </message>
        <message>
            <source>Tune the network from here on</source>
            <translation>从现在开始调优网络</translation>
        </message>
        <message>
            <source>Res&amp;ume</source>
            <translation>继续(&amp;U)</translation>
        </message>
        <message>
            <source>Continue the project's latest run</source>
            <translation>继续该项目最近的运行</translation>
        </message>
        <message>
            <source>&amp;Pause</source>
            <translation>暂停(&amp;P)</translation>
        </message>
        <message>
            <source>Pause after the current round</source>
            <translation>当前轮结束后暂停</translation>
        </message>
        <message>
            <source>S&amp;top</source>
            <translation>停止(&amp;T)</translation>
        </message>
        <message>
            <source>Stop; everything measured is kept</source>
            <translation>停止；所有测量结果都会保留</translation>
        </message>
        <message>
            <source>&amp;Export…</source>
            <translation>导出(&amp;E)…</translation>
        </message>
        <message>
            <source>Export a deploy library</source>
            <translation>导出部署库</translation>
        </message>
        <message>
            <source>Target:</source>
            <translation>目标：</translation>
        </message>
        <message>
            <source>Device:</source>
            <translation>设备：</translation>
        </message>
        <message>
            <source>Run</source>
            <translation>运行</translation>
        </message>
        <message>
            <source>Target</source>
            <translation>目标</translation>
        </message>
        <message>
            <source>What code is generated for</source>
            <translation>代码生成的目标</translation>
        </message>
        <message>
            <source>this CPU</source>
            <translation>本机 CPU</translation>
        </message>
        <message>
            <source>this CPU, 1 thread</source>
            <translation>本机 CPU，1 个线程</translation>
        </message>
        <message>
            <source>simulated device</source>
            <translation>模拟设备</translation>
        </message>
        <message>
            <source>simulated NVIDIA GPU</source>
            <translation>模拟 NVIDIA GPU</translation>
        </message>
        <message>
            <source>simulated Arm Mali GPU</source>
            <translation>模拟 Arm Mali GPU</translation>
        </message>
        <message>
            <source>Device</source>
            <translation>设备</translation>
        </message>
        <message>
            <source>Where candidates are measured</source>
            <translation>在哪里测量候选</translation>
        </message>
        <message>
            <source>&amp;Budget:</source>
            <translation>预算(&amp;B)：</translation>
        </message>
        <message>
            <source>Budget</source>
            <translation>预算</translation>
        </message>
        <message>
            <source>How long to tune: 20 min, until 18:00, 1000 trials, until the last hour gained under 0.1 %; several with commas, the first that comes true ends the run</source>
            <translation>调优多久：20 分钟、到 18:00、1000 次试验、直到最近一小时提升不到 0.1 %；可用逗号写多个，先满足的一个结束运行</translation>
        </message>
        <message>
            <source>2 min</source>
            <translation>2 分钟</translation>
        </message>
        <message>
            <source>5 min</source>
            <translation>5 分钟</translation>
        </message>
        <message>
            <source>20 min</source>
            <translation>20 分钟</translation>
        </message>
        <message>
            <source>1 hour</source>
            <translation>1 小时</translation>
        </message>
        <message>
            <source>8 hours</source>
            <translation>8 小时</translation>
        </message>
        <message>
            <source>until 18:00</source>
            <translation>到 18:00</translation>
        </message>
        <message>
            <source>1000 trials</source>
            <translation>1000 次试验</translation>
        </message>
        <message>
            <source>until the last hour gained under 0.1 %</source>
            <translation>直到最近一小时提升不到 0.1 %</translation>
        </message>
        <message>
            <source>No device: a formula gives the latencies, so everything can be tried within seconds</source>
            <translation>没有真实设备：由公式给出延迟，几秒内即可试用全部功能</translation>
        </message>
        <message>
            <source>No device: a model says what latencies to expect; none is measured, and no output is compared</source>
            <translation>没有设备：由模型给出预期延迟；没有一项是实测值，也不比较输出</translation>
        </message>
        <message>
            <source>64-bit Arm, 4 threads</source>
            <translation>64 位 Arm，4 线程</translation>
        </message>
        <message>
            <source>none</source>
            <translation>无</translation>
        </message>
        <message>
            <source>Looking…</source>
            <translation>正在查找…</translation>
        </message>
        <message>
            <source>%1, all %2</source>
            <translation>%1，全部 %2 个</translation>
        </message>
        <message>
            <source>Nothing can be measured: %1</source>
            <translation>无法测量：%1</translation>
        </message>
        <message>
            <source>Res&amp;ume run</source>
            <translation>继续运行(&amp;U)</translation>
        </message>
        <message>
            <source>+5 min</source>
            <translation>+5 分钟</translation>
        </message>
        <message>
            <source>+20 min</source>
            <translation>+20 分钟</translation>
        </message>
        <message>
            <source>+1 hour</source>
            <translation>+1 小时</translation>
        </message>
        <message>
            <source>OpenCL device</source>
            <translation>OpenCL 设备</translation>
        </message>
        <message>
            <source>OpenCL device: {device}</source>
            <translation>OpenCL 设备：{device}</translation>
        </message>
        <message>
            <source>NVIDIA GPU</source>
            <translation>NVIDIA GPU</translation>
        </message>
        <message>
            <source>NVIDIA GPU: {device}</source>
            <translation>NVIDIA GPU：{device}</translation>
        </message>
        <message>
            <source>RTX A6000, expected</source>
            <translation>RTX A6000，预期值</translation>
        </message>
        <message>
            <source>A100, expected</source>
            <translation>A100，预期值</translation>
        </message>
        <message>
            <source>H100, expected</source>
            <translation>H100，预期值</translation>
        </message>
        <message>
            <source>H200, expected</source>
            <translation>H200，预期值</translation>
        </message>
        <message>
            <source>RTX 4090, expected</source>
            <translation>RTX 4090，预期值</translation>
        </message>
        <message>
            <source>Continue from what was measured; the budget is added on top</source>
            <translation>从已测得的结果继续；预算追加在原有之上</translation>
        </message>
        <message>
            <source>Con&amp;tinue tuning</source>
            <translation>接着调优(&amp;T)</translation>
        </message>
        <message>
            <source>%1 at the farm (%2 of %3 free)</source>
            <translation>设备群的 %1（%3 个中 %2 个空闲）</translation>
        </message>
        <message>
            <source>%1 at the farm (no answer)</source>
            <translation>设备群的 %1（没有应答）</translation>
        </message>
        <message>
            <source>All devices of the key %1 that others leave free, by way of the broker %2</source>
            <translation>通过代理 %2，使用键 %1 下其他人没有使用的所有设备</translation>
        </message>
        <message>
            <source>%1 at the farm (not there)</source>
            <translation>设备群的 %1（不在）</translation>
        </message>
        <message>
            <source>Key %1, broker %2</source>
            <translation>键 %1，代理 %2</translation>
        </message>
        <message>
            <source>The run measures at the broker %1, which is not connected: see the page Devices</source>
            <translation>运行在代理 %1 上测量，但尚未连接：请看“设备”页</translation>
        </message>
        <message>
            <source>The broker %1 does not answer</source>
            <translation>代理 %1 没有应答</translation>
        </message>
        <message>
            <source>The devices of the key %1 do not measure for this target</source>
            <translation>键 %1 的设备不能为此目标测量</translation>
        </message>
        <message>
            <source>No device of the key %1 is there</source>
            <translation>没有键为 %1 的设备</translation>
        </message>
        <message>
            <source>This machine cannot measure for this target, but devices of a farm may; libraries are exported with default schedules</source>
            <translation>本机不能为此目标测量，但设备群的设备也许可以；部署库以默认调度导出</translation>
        </message>
        <message>
            <source>%1 (farm)</source>
            <translation>%1（设备群）</translation>
        </message>
        <message>
            <source>▲ %1 (farm)</source>
            <translation>▲ %1（设备群）</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::RunNotice</name>
        <message>
            <source>Tuning of %1 failed</source>
            <translation>调优 %1 失败</translation>
        </message>
        <message>
            <source>Tuning of %1 finished</source>
            <translation>%1 的调优已结束</translation>
        </message>
        <message numerus="yes">
            <source>Estimated %1 after %2 and %Ln trials</source>
            <translation>
                <numerusform>用时 %2，%Ln 次试验后估计 %1</numerusform>
            </translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::ScatterPanel</name>
        <message>
            <source>Predicted (ms)</source>
            <translation>预测值（毫秒）</translation>
        </message>
        <message>
            <source>Latency (ms)</source>
            <translation>延迟（毫秒）</translation>
        </message>
        <message>
            <source>Time since the first trial</source>
            <translation>距首次试验的时间</translation>
        </message>
        <message>
            <source>Position in the project</source>
            <translation>在项目中的序号</translation>
        </message>
        <message>
            <source>Round</source>
            <translation>轮次</translation>
        </message>
        <message>
            <source>Measured by predicted</source>
            <translation>实测与预测之比</translation>
        </message>
        <message>
            <source>Y axis:</source>
            <translation>纵轴：</translation>
        </message>
        <message>
            <source>X axis:</source>
            <translation>横轴：</translation>
        </message>
        <message>
            <source>Number on the x axis</source>
            <translation>横轴的数值</translation>
        </message>
        <message>
            <source>Number on the y axis</source>
            <translation>纵轴的数值</translation>
        </message>
        <message>
            <source>log</source>
            <translation>对数</translation>
        </message>
        <message>
            <source>Logarithmic axis</source>
            <translation>对数坐标轴</translation>
        </message>
        <message>
            <source>Logarithmic x axis</source>
            <translation>横轴取对数</translation>
        </message>
        <message>
            <source>Logarithmic y axis</source>
            <translation>纵轴取对数</translation>
        </message>
        <message>
            <source>Whole chart</source>
            <translation>显示全图</translation>
        </message>
        <message>
            <source>Reset the zoom; drag a rectangle or turn the wheel to zoom</source>
            <translation>重置缩放；拖出矩形或转动滚轮可缩放</translation>
        </message>
        <message>
            <source>Trials as points</source>
            <translation>以点表示的试验</translation>
        </message>
        <message>
            <source>No network is open</source>
            <translation>没有打开网络</translation>
        </message>
        <message>
            <source>Reading…</source>
            <translation>正在读取…</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::ScatterView</name>
        <message>
            <source>No trial has both numbers.</source>
            <translation>没有试验同时具备这两个数值。</translation>
        </message>
        <message numerus="yes">
            <source>%Ln trials.</source>
            <translation>
                <numerusform>%Ln 次试验。</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <source>%1 of %Ln trials visible.</source>
            <translation>
                <numerusform>%Ln 次试验中可见 %1 次。</numerusform>
            </translation>
        </message>
        <message>
            <source>Stronger colour: more trials in one place, up to %1.</source>
            <translation>颜色越浓，该处试验越多，最多 %1 次。</translation>
        </message>
        <message>
            <source>%1 at or below zero cannot be shown on a logarithmic axis.</source>
            <translation>有 %1 次小于或等于零，无法显示在对数坐标轴上。</translation>
        </message>
        <message>
            <source>Trials</source>
            <translation>试验次数</translation>
        </message>
        <message>
            <source>Position in the project</source>
            <translation>在项目中的序号</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::SchedulerPage</name>
        <message>
            <source>Trials by task over time</source>
            <translation>各任务的试验随时间的变化</translation>
        </message>
        <message>
            <source>Rounds</source>
            <translation>轮次</translation>
        </message>
        <message>
            <source>trials</source>
            <translation>次试验</translation>
        </message>
        <message>
            <source>No rounds yet. Start a run to see which task gets the trials, and why.</source>
            <translation>尚未运行任何一轮。开始运行后可以看到哪个任务获得试验以及原因。</translation>
        </message>
        <message>
            <source>Rounds: %1. %2</source>
            <translation>轮次：%1。%2</translation>
        </message>
        <message>
            <source>Open a network to see its rounds.</source>
            <translation>打开网络后可看到各轮。</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::SettingsPage</name>
        <message>
            <source>Nothing</source>
            <translation>无</translation>
        </message>
        <message>
            <source>The installed head start</source>
            <translation>已安装的热启动文件</translation>
        </message>
        <message>
            <source>New projects start &amp;with:</source>
            <translation>新项目开始于(&amp;W)：</translation>
        </message>
        <message>
            <source>2 min</source>
            <translation>2 分钟</translation>
        </message>
        <message>
            <source>&amp;Budget of new projects:</source>
            <translation>新项目的预算(&amp;B)：</translation>
        </message>
        <message>
            <source>Same as the system</source>
            <translation>跟随系统</translation>
        </message>
        <message>
            <source>&amp;Language:</source>
            <translation>语言(&amp;L)：</translation>
        </message>
        <message>
            <source>&amp;Appearance:</source>
            <translation>外观(&amp;A)：</translation>
        </message>
        <message>
            <source>&amp;Shortcuts:</source>
            <translation>快捷键(&amp;S)：</translation>
        </message>
        <message>
            <source>&amp;Keys:</source>
            <translation>按键(&amp;K)：</translation>
        </message>
        <message>
            <source>&amp;Remove</source>
            <translation>移除(&amp;R)</translation>
        </message>
        <message>
            <source>&amp;Default</source>
            <translation>默认(&amp;D)</translation>
        </message>
        <message>
            <source>Command</source>
            <translation>命令</translation>
        </message>
        <message>
            <source>Keys</source>
            <translation>按键</translation>
        </message>
        <message>
            <source>Commands and their shortcuts</source>
            <translation>命令及其快捷键</translation>
        </message>
        <message>
            <source>Keys of the selected command</source>
            <translation>所选命令的按键</translation>
        </message>
        <message>
            <source>Taken from: %1</source>
            <translation>取自：%1</translation>
        </message>
        <message>
            <source>&amp;Notify me when a run ends</source>
            <translation>运行结束时通知我(&amp;N)</translation>
        </message>
        <message>
            <source>As&amp;k before closing the window during a run</source>
            <translation>运行期间关闭窗口前先询问(&amp;K)</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::StandingModel</name>
        <message>
            <source>Compared</source>
            <translation>比较对象</translation>
        </message>
        <message>
            <source>Estimated (ms)</source>
            <translation>估计（毫秒）</translation>
        </message>
        <message>
            <source>Measured (ms)</source>
            <translation>实测（毫秒）</translation>
        </message>
        <message>
            <source>Now vs. this</source>
            <translation>当前相对于它</translation>
        </message>
        <message>
            <source>Untuned (ms)</source>
            <translation>未调优（毫秒）</translation>
        </message>
        <message>
            <source>Tasks with a record</source>
            <translation>有记录的任务</translation>
        </message>
        <message>
            <source>Trials</source>
            <translation>试验</translation>
        </message>
        <message>
            <source>Tuned for</source>
            <translation>调优时长</translation>
        </message>
        <message>
            <source>%1 (%2 failed)</source>
            <translation>%1（%2 次失败）</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::PaneBar</name>
        <message>
            <source>Panes</source>
            <translation>窗格</translation>
        </message>
        <message>
            <source>Panes at the bottom</source>
            <translation>底部窗格</translation>
        </message>
        <message>
            <source>Shows or hides this pane</source>
            <translation>显示或隐藏此窗格</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::StartPage</name>
        <message>
            <source>&amp;Remove from the list</source>
            <translation>从列表中移除(&amp;R)</translation>
        </message>
        <message>
            <source>Start page</source>
            <translation>起始页</translation>
        </message>
        <message>
            <source>Open a network, tune it for your device, export a library that is as fast as measured.</source>
            <translation>打开一个网络，针对您的设备调优，然后导出与实测同样快的部署库。</translation>
        </message>
        <message>
            <source>Open an ONNX &amp;model…</source>
            <translation>打开 ONNX 模型(&amp;M)…</translation>
        </message>
        <message>
            <source>Open a &amp;project…</source>
            <translation>打开项目(&amp;P)…</translation>
        </message>
        <message>
            <source>&amp;Networks that come with Lathe</source>
            <translation>Lathe 自带的网络(&amp;N)</translation>
        </message>
        <message>
            <source>Recent models and projects</source>
            <translation>最近的模型和项目</translation>
        </message>
        <message>
            <source>Networks of the zoo</source>
            <translation>自带的网络</translation>
        </message>
        <message>
            <source>Estimated latency of the last run</source>
            <translation>最近一次运行的估计延迟</translation>
        </message>
        <message numerus="yes">
            <source>%Ln trials</source>
            <translation>
                <numerusform>%Ln 次试验</numerusform>
            </translation>
        </message>
        <message>
            <source>the file is gone</source>
            <translation>文件已不存在</translation>
        </message>
        <message>
            <source>estimated %1</source>
            <translation>估计 %1</translation>
        </message>
        <message>
            <source>measured %1</source>
            <translation>实测 %1</translation>
        </message>
        <message>
            <source>untuned %1</source>
            <translation>未调优 %1</translation>
        </message>
        <message>
            <source>finished</source>
            <translation>已完成</translation>
        </message>
        <message>
            <source>stopped, can be resumed</source>
            <translation>已停止，可以继续</translation>
        </message>
        <message>
            <source>paused, can be resumed</source>
            <translation>曾暂停，可以继续</translation>
        </message>
        <message>
            <source>failed</source>
            <translation>失败</translation>
        </message>
        <message>
            <source>interrupted, can be resumed</source>
            <translation>曾中断，可以从中断处继续</translation>
        </message>
        <message>
            <source>%1 of tuning</source>
            <translation>已调优 %1</translation>
        </message>
        <message>
            <source>&amp;Open</source>
            <translation>打开(&amp;O)</translation>
        </message>
        <message>
            <source>Opens %1</source>
            <translation>打开 %1</translation>
        </message>
        <message>
            <source>Nothing opened yet</source>
            <translation>尚未打开过任何内容</translation>
        </message>
        <message>
            <source>Re&amp;cent (Enter or double-click opens)</source>
            <translation>最近（按回车或双击打开）(&amp;C)</translation>
        </message>
        <message>
            <source>Open and res&amp;ume</source>
            <translation>打开并继续(&amp;U)</translation>
        </message>
        <message>
            <source>Rep&amp;lay a run…</source>
            <translation>回放一次运行(&amp;L)…</translation>
        </message>
        <message>
            <source>Plays a stored run in the same views; nothing is measured or changed</source>
            <translation>在同样的视图中回放项目中保存的一次运行；不测量，也不改动任何内容</translation>
        </message>
        <message>
            <source>Re&amp;play its latest run</source>
            <translation>回放其最近一次运行(&amp;P)</translation>
        </message>
        <message>
            <source>Import a &amp;tuning log…</source>
            <translation>导入调优日志(&amp;T)…</translation>
        </message>
        <message>
            <source>Imports the records of a log into the project of its network: Lathe&apos;s own exports and logs of the auto-scheduler</source>
            <translation>把日志中的记录导入其网络的项目：Lathe 自己的导出文件，以及 auto-scheduler 的日志</translation>
        </message>
        <message>
            <source>Drop ONNX models, projects (.lathe) or tuning logs (.json, .jsonl, .log) anywhere in this window. F1 opens the manual, Ctrl+Shift+P finds every command.</source>
            <translation>可将 ONNX 模型、项目（.lathe）或调优日志（.json、.jsonl、.log）拖放到窗口的任何位置。F1 打开手册，Ctrl+Shift+P 查找任何命令。</translation>
        </message>
        <message>
            <source>for %1</source>
            <translation>目标 %1</translation>
        </message>
        <message>
            <source>%1 (untuned %2)</source>
            <translation>%1（未调优 %2）</translation>
        </message>
        <message>
            <source>%L1 M parameters</source>
            <translation>%L1 M 参数</translation>
        </message>
        <message>
            <source>tuned for %1: %2</source>
            <translation>已为 %1 调优：%2</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::TableView</name>
        <message>
            <source>Fit the columns</source>
            <translation>调整列宽</translation>
        </message>
        <message>
            <source>Restore the default columns</source>
            <translation>恢复默认列</translation>
        </message>
        <message>
            <source>&amp;Copy</source>
            <translation>复制(&amp;C)</translation>
        </message>
        <message>
            <source>Copy as C&amp;SV</source>
            <translation>复制为 CSV(&amp;S)</translation>
        </message>
        <message>
            <source>&amp;Save this view…</source>
            <translation>保存此视图(&amp;S)…</translation>
        </message>
        <message>
            <source>Not saved</source>
            <translation>未保存</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::TaskModel</name>
        <message>
            <source>untuned</source>
            <translation>未调优</translation>
        </message>
        <message>
            <source>waiting</source>
            <translation>等待</translation>
        </message>
        <message>
            <source>active</source>
            <translation>进行中</translation>
        </message>
        <message>
            <source>exhausted</source>
            <translation>已穷尽</translation>
        </message>
        <message>
            <source>%1
%2
best: %3 ms%4
key: %5</source>
            <translation>%1
%2
最佳：%3 毫秒%4
键：%5</translation>
        </message>
        <message>
            <source>Task</source>
            <translation>任务</translation>
        </message>
        <message>
            <source>Weight</source>
            <translation>权重</translation>
        </message>
        <message>
            <source>Shapes</source>
            <translation>形状</translation>
        </message>
        <message>
            <source>MFLOP</source>
            <translation>MFLOP</translation>
        </message>
        <message>
            <source>Best (ms)</source>
            <translation>最佳（毫秒）</translation>
        </message>
        <message>
            <source>Share</source>
            <translation>占比</translation>
        </message>
        <message>
            <source>GFLOP/s</source>
            <translation>GFLOP/s</translation>
        </message>
        <message>
            <source>Trials</source>
            <translation>试验</translation>
        </message>
        <message>
            <source>Failed</source>
            <translation>失败</translation>
        </message>
        <message>
            <source>State</source>
            <translation>状态</translation>
        </message>
        <message>
            <source>pinned</source>
            <translation>已固定</translation>
        </message>
        <message>
            <source>muted</source>
            <translation>已静音</translation>
        </message>
        <message>
            <source>Curve</source>
            <translation>曲线</translation>
        </message>
        <message>
            <source>Budget</source>
            <translation>预算</translation>
        </message>
        <message>
            <source>Of limit</source>
            <translation>占极限</translation>
        </message>
        <message>
            <source>The least time that this device&apos;s limits allow, relative to the best one. Effective figures (eff.) count the
operations of the direct algorithm; winograd needs fewer, so they may exceed 100 %.</source>
            <translation>设备极限所允许的最短时间占最佳时间的比例。等效数字（等效）按直接算法的运算计数，Winograd 所需运算更少，因此可能超过 100 %。</translation>
        </message>
        <message>
            <source>%1 % eff.</source>
            <translation>%1 % 等效</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::TasksPage</name>
        <message>
            <source>Filter the tasks</source>
            <translation>筛选任务</translation>
        </message>
        <message>
            <source>Tasks</source>
            <translation>任务</translation>
        </message>
        <message>
            <source>No task matches the filter.</source>
            <translation>没有任务符合筛选条件。</translation>
        </message>
        <message>
            <source>Open a network to see its tasks.</source>
            <translation>打开网络后可看到它的任务。</translation>
        </message>
        <message>
            <source>This network has no tasks to tune.</source>
            <translation>该网络没有可调优的任务。</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::TimePage</name>
        <message>
            <source>Time by activity</source>
            <translation>各项活动的时间</translation>
        </message>
        <message>
            <source>Sums by activity</source>
            <translation>各项活动的总和</translation>
        </message>
        <message>
            <source>Activity</source>
            <translation>活动</translation>
        </message>
        <message>
            <source>Seconds</source>
            <translation>秒</translation>
        </message>
        <message>
            <source>Share</source>
            <translation>占比</translation>
        </message>
        <message>
            <source>What happens</source>
            <translation>说明</translation>
        </message>
        <message>
            <source>search</source>
            <translation>搜索</translation>
        </message>
        <message>
            <source>reference</source>
            <translation>参考</translation>
        </message>
        <message>
            <source>build</source>
            <translation>构建</translation>
        </message>
        <message>
            <source>measure</source>
            <translation>测量</translation>
        </message>
        <message>
            <source>store</source>
            <translation>存储</translation>
        </message>
        <message>
            <source>train</source>
            <translation>训练</translation>
        </message>
        <message>
            <source>other</source>
            <translation>其他</translation>
        </message>
        <message>
            <source>computing reference outputs</source>
            <translation>计算参考输出</translation>
        </message>
        <message>
            <source>loading, checking and timing on the device</source>
            <translation>在设备上加载、检查和计时</translation>
        </message>
        <message>
            <source>writing results to disk</source>
            <translation>将结果写入磁盘</translation>
        </message>
        <message>
            <source>training the cost model</source>
            <translation>训练代价模型</translation>
        </message>
        <message>
            <source>s</source>
            <translation>秒</translation>
        </message>
        <message>
            <source>%1 %</source>
            <translation>%1 %</translation>
        </message>
        <message>
            <source>This run comes from a version of Lathe that did not record its time.</source>
            <translation>此运行由未记录时间分布的 Lathe 版本完成。</translation>
        </message>
        <message>
            <source>No rounds yet.</source>
            <translation>尚未运行任何一轮。</translation>
        </message>
        <message>
            <source>The device measures %1 % of the time; most of the rest is: %2.</source>
            <translation>设备有 %1 % 的时间在测量；其余主要是：%2。</translation>
        </message>
        <message>
            <source>The device measures %1 % of the time.</source>
            <translation>设备有 %1 % 的时间在测量。</translation>
        </message>
        <message>
            <source>Activities</source>
            <translation>各项活动</translation>
        </message>
        <message>
            <source>Measurement quality</source>
            <translation>测量质量</translation>
        </message>
        <message>
            <source>Devices</source>
            <translation>设备</translation>
        </message>
        <message>
            <source>start</source>
            <translation>启动</translation>
        </message>
        <message>
            <source>starting workers, reading earlier results of a resumed run</source>
            <translation>启动工作进程，读取继续的运行的先前结果</translation>
        </message>
        <message>
            <source>limits</source>
            <translation>极限</translation>
        </message>
        <message>
            <source>measuring the device&apos;s limits</source>
            <translation>测量设备的极限</translation>
        </message>
        <message>
            <source>propose</source>
            <translation>提出候选</translation>
        </message>
        <message>
            <source>sampling, evolving and featurizing candidates</source>
            <translation>抽样、进化候选程序并提取特征</translation>
        </message>
        <message>
            <source>score</source>
            <translation>评分</translation>
        </message>
        <message>
            <source>ranking candidates with the cost model</source>
            <translation>用代价模型给候选程序排序</translation>
        </message>
        <message>
            <source>choosing candidates: proposing and scoring (not separated by older versions)</source>
            <translation>选择候选程序：提出和评分（旧版本不区分）</translation>
        </message>
        <message>
            <source>waiting for builders and for the devices&apos; compilers</source>
            <translation>等待构建进程和设备自身的编译器</translation>
        </message>
        <message>
            <source>finals</source>
            <translation>决赛</translation>
        </message>
        <message>
            <source>measuring the best candidates again</source>
            <translation>再次测量最佳候选程序</translation>
        </message>
        <message>
            <source>whole network</source>
            <translation>整个网络</translation>
        </message>
        <message>
            <source>compiling and timing the network</source>
            <translation>编译网络并计时</translation>
        </message>
        <message>
            <source>scheduling and everything else</source>
            <translation>任务调度及其他</translation>
        </message>
        <message>
            <source>Builders: lower</source>
            <translation>构建进程：降级</translation>
        </message>
        <message>
            <source>lowering schedules to loops</source>
            <translation>将调度降低为循环</translation>
        </message>
        <message>
            <source>Builders: generate</source>
            <translation>构建进程：生成代码</translation>
        </message>
        <message>
            <source>generating machine code</source>
            <translation>生成机器码</translation>
        </message>
        <message>
            <source>Builders: link</source>
            <translation>构建进程：链接</translation>
        </message>
        <message>
            <source>linking</source>
            <translation>链接</translation>
        </message>
        <message>
            <source>Builders: other</source>
            <translation>构建进程：其他</translation>
        </message>
        <message>
            <source>reading jobs, sending kernels</source>
            <translation>读取作业、发送内核</translation>
        </message>
        <message>
            <source>Builders: idle</source>
            <translation>构建进程：空闲</translation>
        </message>
        <message>
            <source>nothing to build, paused while a device is timed, or no free core</source>
            <translation>无可构建、设备计时期间暂停，或没有空闲的核心</translation>
        </message>
        <message>
            <source>Devices: upload</source>
            <translation>设备：上传</translation>
        </message>
        <message>
            <source>loading kernels and filling their buffers</source>
            <translation>加载内核并填充其缓冲区</translation>
        </message>
        <message>
            <source>Devices: build</source>
            <translation>设备：构建</translation>
        </message>
        <message>
            <source>compiling kernels on the device</source>
            <translation>在设备上编译内核</translation>
        </message>
        <message>
            <source>Devices: check</source>
            <translation>设备：检查</translation>
        </message>
        <message>
            <source>comparing outputs with the reference</source>
            <translation>将输出与参考结果比较</translation>
        </message>
        <message>
            <source>Devices: measure</source>
            <translation>设备：测量</translation>
        </message>
        <message>
            <source>running the kernels</source>
            <translation>运行内核</translation>
        </message>
        <message>
            <source>Devices: other</source>
            <translation>设备：其他</translation>
        </message>
        <message>
            <source>reading jobs, sending results</source>
            <translation>读取作业、发送结果</translation>
        </message>
        <message>
            <source>Devices: idle</source>
            <translation>设备：空闲</translation>
        </message>
        <message>
            <source>nothing to measure</source>
            <translation>无可测量</translation>
        </message>
        <message>
            <source>Workers</source>
            <translation>工作进程</translation>
        </message>
        <message>
            <source>What builders and devices did meanwhile</source>
            <translation>构建进程和设备同时所做的工作</translation>
        </message>
        <message>
            <source>Part of the work</source>
            <translation>工作环节</translation>
        </message>
        <message>
            <source>Processor seconds</source>
            <translation>处理器秒数</translation>
        </message>
        <message>
            <source>Nothing recorded.</source>
            <translation>没有相关记录。</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::WindowLayout</name>
        <message>
            <source>Views of the network</source>
            <translation>网络的各视图</translation>
        </message>
        <message>
            <source>Show %1</source>
            <translation>显示“%1”</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::Workspace</name>
        <message>
            <source>export</source>
            <translation>导出</translation>
        </message>
        <message>
            <source>Exported %1</source>
            <translation>已导出 %1</translation>
        </message>
        <message>
            <source>Opened %1: %2, %3</source>
            <translation>已打开 %1：%2，%3</translation>
        </message>
        <message>
            <source>Whole network, untuned: %1</source>
            <translation>整个网络，未调优：%1</translation>
        </message>
        <message>
            <source>Whole network: %1</source>
            <translation>整个网络：%1</translation>
        </message>
        <message>
            <source>%1  round %2: %3 of %4</source>
            <translation>%1  第 %2 轮：%4 的 %3</translation>
        </message>
        <message>
            <source>run</source>
            <translation>运行</translation>
        </message>
        <message>
            <source>%1 and %2 more</source>
            <translation>%1 等另外 %2 个</translation>
        </message>
        <message>
            <source>%1 uses unsupported features: %2</source>
            <translation>%1 使用了不支持的功能：%2</translation>
        </message>
        <message>
            <source>measuring again</source>
            <translation>重新测量</translation>
        </message>
        <message>
            <source>tuning log</source>
            <translation>调优日志</translation>
        </message>
        <message>
            <source>%1, line %2</source>
            <translation>%1，第 %2 行</translation>
        </message>
        <message>
            <source>The files contain no lines of a log</source>
            <translation>没有可读取的日志行</translation>
        </message>
        <message>
            <source>Already present: %L1.</source>
            <translation>已存在：%L1。</translation>
        </message>
        <message>
            <source>Skipped lines: %L1; see the issues.</source>
            <translation>跳过的行：%L1；请查看问题。</translation>
        </message>
        <message>
            <source>Measured elsewhere by another tuner: %L1. Exports use these only after they are measured again here.</source>
            <translation>由其他调优器在别处测量：%L1。在此重新测量之后，导出才会使用它们。</translation>
        </message>
        <message>
            <source>%L1 of %L2 lines imported (tasks: %L3).</source>
            <translation>%L2 行中导入了 %L1 行（任务：%L3）。</translation>
        </message>
        <message>
            <source>%1  finals: %2 of %3 in %4; the best changed for %5; estimate %6, before %7</source>
            <translation>%1  决赛：%3的 %2，共 %4；%5的最佳结果有变；估计 %6，之前 %7</translation>
        </message>
        <message>
            <source>network</source>
            <translation>网络</translation>
        </message>
        <message>
            <source>Input sizes: %1</source>
            <translation>输入尺寸：%1</translation>
        </message>
        <message numerus="yes">
            <source>%n tasks</source>
            <translation>
                <numerusform>%n 个任务</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <source>%n functions not tuned</source>
            <translation>
                <numerusform>%n 个函数不调优</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <source>%n trials</source>
            <translation>
                <numerusform>%n 次试验</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <source>%n candidates</source>
            <translation>
                <numerusform>%n 个候选程序</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <source>%n passes</source>
            <translation>
                <numerusform>%n 遍</numerusform>
            </translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::InputSizesDialog</name>
        <message>
            <source>Inputs: %1</source>
            <translation>输入：%1</translation>
        </message>
        <message>
            <source>batch</source>
            <translation>批大小</translation>
        </message>
        <message>
            <source>channels</source>
            <translation>通道数</translation>
        </message>
        <message>
            <source>depth</source>
            <translation>深度</translation>
        </message>
        <message>
            <source>image height</source>
            <translation>图像高度</translation>
        </message>
        <message>
            <source>image width</source>
            <translation>图像宽度</translation>
        </message>
        <message>
            <source>sequence length</source>
            <translation>序列长度</translation>
        </message>
        <message>
            <source>audio frames</source>
            <translation>声音帧数</translation>
        </message>
        <message>
            <source>audio samples</source>
            <translation>声音采样数</translation>
        </message>
        <message>
            <source>unknown</source>
            <translation>未知</translation>
        </message>
        <message>
            <source>Input sizes</source>
            <translation>输入尺寸</translation>
        </message>
        <message>
            <source>%1 leaves input sizes open. Choose the sizes to tune for. You can change them later with File &gt; Input sizes; measurements of unchanged tasks are kept.</source>
            <translation>%1 的部分输入尺寸未定。请选择要为之调优的尺寸。以后可通过“文件 &gt; 输入尺寸”更改；不变的任务的测量结果会保留。</translation>
        </message>
        <message>
            <source>&amp;Open</source>
            <translation>打开(&amp;O)</translation>
        </message>
        <message>
            <source>Cancel</source>
            <translation>取消</translation>
        </message>
        <message>
            <source>%1, dimension %2</source>
            <translation>%1 的维度 %2</translation>
        </message>
        <message>
            <source>%1 more</source>
            <translation>另外 %1 个</translation>
        </message>
        <message>
            <source>%1 (%2)</source>
            <translation>%1（%2）</translation>
        </message>
        <message>
            <source>Shape of %1</source>
            <translation>%1 的形状</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::ModelOpener</name>
        <message>
            <source>All input sizes are fixed in the model</source>
            <translation>模型的输入尺寸全部固定</translation>
        </message>
        <message>
            <source>Not opened: no input sizes were chosen</source>
            <translation>未打开：没有选择输入尺寸</translation>
        </message>
        <message>
            <source>Not opened: no input sizes were chosen; %1 stays open</source>
            <translation>未打开：没有选择输入尺寸；%1 保持打开</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::UnsupportedDialog</name>
        <message>
            <source>Not supported</source>
            <translation>不支持</translation>
        </message>
        <message>
            <source>C&amp;lose</source>
            <translation>关闭(&amp;L)</translation>
        </message>
        <message>
            <source>What is not supported</source>
            <translation>不支持的内容</translation>
        </message>
        <message>
            <source>What</source>
            <translation>内容</translation>
        </message>
        <message>
            <source>Nodes</source>
            <translation>节点数</translation>
        </message>
        <message>
            <source>Names of the nodes</source>
            <translation>节点名称</translation>
        </message>
        <message>
            <source>, %1 more</source>
            <translation>，另有 %1 个</translation>
        </message>
        <message>
            <source>%1 uses features that Lathe does not support. Export the model without them, or replace these nodes (%2 in all).</source>
            <translation>%1 使用了 Lathe 不支持的功能。请在导出模型时避免它们，或替换这些节点（共 %2 个）。</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::ResultBanner</name>
        <message>
            <source>Result</source>
            <translation>结果</translation>
        </message>
        <message>
            <source>Measure again</source>
            <translation>重新测量</translation>
        </message>
        <message>
            <source>Time the tuned and the untuned network again, in turn</source>
            <translation>再次轮流计时调优和未调优的网络</translation>
        </message>
        <message>
            <source>Checks…</source>
            <translation>检查…</translation>
        </message>
        <message>
            <source>What to check before you trust the figures, and what to do</source>
            <translation>相信数字之前应当查看的内容，以及可以采取的办法</translation>
        </message>
        <message>
            <source>Export…</source>
            <translation>导出…</translation>
        </message>
        <message>
            <source>Export a deploy library</source>
            <translation>导出部署库</translation>
        </message>
        <message>
            <source>Close</source>
            <translation>关闭</translation>
        </message>
        <message>
            <source>Hide until the next result</source>
            <translation>隐藏，直到有新的结果</translation>
        </message>
        <message>
            <source>Timing the tuned and the untuned network in turn…</source>
            <translation>正在轮流计时调优和未调优的网络…</translation>
        </message>
        <message>
            <source>Not compared with the untuned network</source>
            <translation>未与未调优的网络比较</translation>
        </message>
        <message>
            <source>Not proven faster than untuned</source>
            <translation>未能证明比未调优时快</translation>
        </message>
        <message>
            <source>%1 times as fast as untuned</source>
            <translation>速度是未调优时的 %1 倍</translation>
        </message>
        <message>
            <source>Slower than untuned</source>
            <translation>比未调优时慢</translation>
        </message>
        <message>
            <source>Do not rely on it yet: %1</source>
            <translation>暂不可信：%1</translation>
        </message>
        <message>
            <source>%1 instead of %2; 95 % interval of the gain %3 to %4, pairs of turns: %5</source>
            <translation>%1，而非 %2；增益的 95 % 区间 %3 至 %4，轮流计时 %5 对</translation>
        </message>
        <message>
            <source>%1 instead of %2: %3 times as long; 95 % interval %4 to %5, pairs of turns: %6</source>
            <translation>%1，而非 %2：耗时为 %3 倍；95 % 区间 %4 至 %5，轮流计时 %6 对</translation>
        </message>
        <message>
            <source>%1, untuned %2: %3 times as fast, but the 95 % interval, %4 to %5, holds 1; pairs of turns: %6</source>
            <translation>%1，未调优 %2：速度为 %3 倍，但 95 % 区间 %4 至 %5 包含 1；轮流计时 %6 对</translation>
        </message>
        <message>
            <source>%1, untuned %2: %3 times as fast; pairs of turns: %4, too few for an interval</source>
            <translation>%1，未调优 %2：速度为 %3 倍；轮流计时 %4 对，不足以给出区间</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::ChecksDialog</name>
        <message>
            <source>Checks</source>
            <translation>检查</translation>
        </message>
        <message>
            <source>Checks of the project</source>
            <translation>项目的检查</translation>
        </message>
        <message>
            <source>Good</source>
            <translation>合格</translation>
        </message>
        <message>
            <source>Check</source>
            <translation>检查项</translation>
        </message>
        <message>
            <source>What you can do</source>
            <translation>可以采取的办法</translation>
        </message>
        <message>
            <source>What</source>
            <translation>问题</translation>
        </message>
        <message>
            <source>Evidence</source>
            <translation>依据</translation>
        </message>
        <message>
            <source>Cure</source>
            <translation>办法</translation>
        </message>
        <message>
            <source>No reason was found to doubt the figures.</source>
            <translation>未发现任何可疑之处，这些数字可信。</translation>
        </message>
        <message>
            <source>No run of this project has been checked yet.</source>
            <translation>该项目还没有运行得到检查。</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::WeightsDialog</name>
        <message>
            <source>Weights</source>
            <translation>权重</translation>
        </message>
        <message>
            <source>Minimum</source>
            <translation>最小值</translation>
        </message>
        <message>
            <source>Maximum</source>
            <translation>最大值</translation>
        </message>
        <message>
            <source>Mean</source>
            <translation>平均值</translation>
        </message>
        <message>
            <source>Standard deviation</source>
            <translation>标准差</translation>
        </message>
        <message>
            <source>Zeros</source>
            <translation>零值</translation>
        </message>
        <message>
            <source>NaN</source>
            <translation>NaN</translation>
        </message>
        <message>
            <source>Infinite</source>
            <translation>无穷值</translation>
        </message>
        <message>
            <source>Constant</source>
            <translation>常量</translation>
        </message>
        <message>
            <source>Values</source>
            <translation>数值</translation>
        </message>
        <message>
            <source>Histogram of the values</source>
            <translation>数值直方图</translation>
        </message>
        <message>
            <source>&amp;Logarithmic counts</source>
            <translation>对数计数(&amp;L)</translation>
        </message>
        <message>
            <source>Go to index, such as 3, 0, 2</source>
            <translation>转到索引，例如 3, 0, 2</translation>
        </message>
        <message>
            <source>Go to index</source>
            <translation>转到索引</translation>
        </message>
        <message>
            <source>&amp;Save as .npy…</source>
            <translation>另存为 .npy(&amp;S)…</translation>
        </message>
        <message>
            <source>C&amp;lose</source>
            <translation>关闭(&amp;L)</translation>
        </message>
        <message>
            <source>S&amp;top</source>
            <translation>停止(&amp;T)</translation>
        </message>
        <message>
            <source>&amp;Compute statistics</source>
            <translation>计算统计(&amp;C)</translation>
        </message>
        <message>
            <source>This network has no constants.</source>
            <translation>此网络没有常量。</translation>
        </message>
        <message>
            <source>The statistics were stopped.</source>
            <translation>统计已停止。</translation>
        </message>
        <message>
            <source>%1 (%2 %)</source>
            <translation>%1（%2%）</translation>
        </message>
        <message>
            <source>Values from %1 to %2, mean %3</source>
            <translation>数值范围 %1 到 %2，平均值 %3</translation>
        </message>
        <message>
            <source>There is no value at %1.</source>
            <translation>%1 处没有数值。</translation>
        </message>
        <message>
            <source>At most %1 values can be copied: save them as a file.</source>
            <translation>最多可复制 %1 个数值：请另存为文件。</translation>
        </message>
        <message>
            <source>Copied.</source>
            <translation>已复制。</translation>
        </message>
        <message>
            <source>Save the values</source>
            <translation>保存数值</translation>
        </message>
        <message>
            <source>NumPy array (*.npy)</source>
            <translation>NumPy 数组 (*.npy)</translation>
        </message>
        <message>
            <source>Saving…</source>
            <translation>正在保存…</translation>
        </message>
        <message>
            <source>Saved as %1.</source>
            <translation>已保存为 %1。</translation>
        </message>
        <message>
            <source>%1 %2, 1 value, read by %3</source>
            <translation>%1 %2，1 个值，由 %3 读取</translation>
        </message>
        <message>
            <source>%1 %2, %4 values, read by %3</source>
            <translation>%1 %2，%4 个值，由 %3 读取</translation>
        </message>
        <message>
            <source>%1
Name here: %2</source>
            <translation>%1
此处的名称：%2</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::ValueGrid</name>
        <message>
            <source>&amp;Copy</source>
            <translation>复制(&amp;C)</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::HistogramView</name>
        <message>
            <source>from</source>
            <translation>从</translation>
        </message>
        <message>
            <source>to</source>
            <translation>到</translation>
        </message>
        <message>
            <source>values</source>
            <translation>数值个数</translation>
        </message>
        <message>
            <source>%1 to %2: %3 values</source>
            <translation>%1 到 %2：%3 个值</translation>
        </message>
    </context>
    <context>
        <name>Listings</name>
        <message>
            <source>LLVM IR</source>
            <translation>LLVM IR</translation>
        </message>
        <message>
            <source>Assembly</source>
            <translation>汇编</translation>
        </message>
        <message>
            <source>Source</source>
            <translation>源代码</translation>
        </message>
        <message>
            <source>OpenCL C</source>
            <translation>OpenCL C</translation>
        </message>
        <message>
            <source>CUDA C++</source>
            <translation>CUDA C++</translation>
        </message>
        <message>
            <source>SASS</source>
            <translation>SASS</translation>
        </message>
        <message>
            <source>Expected times</source>
            <translation>预期时间</translation>
        </message>
        <message>
            <source>PTX</source>
            <translation>PTX</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::CodeView</name>
        <message>
            <source>Find</source>
            <translation>查找</translation>
        </message>
        <message>
            <source>Find in the code</source>
            <translation>在代码中查找</translation>
        </message>
        <message>
            <source>Previous (Shift+F3)</source>
            <translation>上一个 (Shift+F3)</translation>
        </message>
        <message>
            <source>Next (F3)</source>
            <translation>下一个 (F3)</translation>
        </message>
        <message>
            <source>Close (Esc)</source>
            <translation>关闭 (Esc)</translation>
        </message>
        <message>
            <source>none</source>
            <translation>无</translation>
        </message>
        <message numerus="yes">
            <source>%n found</source>
            <translation>
                <numerusform>找到 %n 个</numerusform>
            </translation>
        </message>
        <message>
            <source>%1 of %2</source>
            <translation>第 %1 个，共 %2 个</translation>
        </message>
        <message>
            <source>&amp;Copy</source>
            <translation>复制(&amp;C)</translation>
        </message>
        <message>
            <source>Select &amp;all</source>
            <translation>全选(&amp;A)</translation>
        </message>
        <message>
            <source>&amp;Find</source>
            <translation>查找(&amp;F)</translation>
        </message>
        <message>
            <source>&amp;Save as…</source>
            <translation>另存为(&amp;S)…</translation>
        </message>
        <message>
            <source>Save the code</source>
            <translation>保存代码</translation>
        </message>
        <message>
            <source>Cannot write %1: %2</source>
            <translation>无法写入 %1：%2</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::ListingPanel</name>
        <message>
            <source>Program</source>
            <translation>程序</translation>
        </message>
        <message>
            <source>Hot loop</source>
            <translation>热点循环</translation>
        </message>
        <message>
            <source>Go to the innermost loop that does most of the work</source>
            <translation>转到完成大部分工作的最内层循环</translation>
        </message>
        <message>
            <source>Spill: a register is written to the stack</source>
            <translation>溢出：寄存器写入栈</translation>
        </message>
        <message>
            <source>Reload: a register is read from the stack</source>
            <translation>重载：从栈读回寄存器</translation>
        </message>
        <message>
            <source>Vector registers: %1 of %2</source>
            <translation>向量寄存器：%1 / %2</translation>
        </message>
        <message>
            <source>General registers: %1 of %2</source>
            <translation>通用寄存器：%1 / %2</translation>
        </message>
        <message>
            <source>Spills: %1, reloads: %2</source>
            <translation>溢出：%1，重载：%2</translation>
        </message>
        <message>
            <source>Hot loop: lines %1 to %2</source>
            <translation>热点循环：第 %1 到 %2 行</translation>
        </message>
        <message>
            <source>, %1 of these in it</source>
            <translation>，其中 %1 次在循环内</translation>
        </message>
        <message>
            <source>Larger</source>
            <translation>放大</translation>
        </message>
        <message>
            <source>Open in a window of its own</source>
            <translation>在独立窗口中打开</translation>
        </message>
    </context>
    <context>
        <name>ChartLegend</name>
        <message>
            <source>%1 more</source>
            <translation>另外 %1 项</translation>
        </message>
        <message>
            <source>The other lines</source>
            <translation>其他曲线</translation>
        </message>
        <message>
            <source>%1
A click hides or shows it, a double click shows it alone</source>
            <translation>%1
单击隐藏或显示，双击只显示它</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::OverlayMenu</name>
        <message>
            <source>Add &amp;run or project</source>
            <translation>添加运行或项目(&amp;R)</translation>
        </message>
        <message>
            <source>Runs of this project</source>
            <translation>本项目的运行</translation>
        </message>
        <message>
            <source>Reading…</source>
            <translation>正在读取…</translation>
        </message>
        <message>
            <source>Project &amp;file…</source>
            <translation>项目文件(&amp;F)…</translation>
        </message>
        <message>
            <source>Shown</source>
            <translation>已显示</translation>
        </message>
        <message>
            <source>Remove &amp;all</source>
            <translation>全部移除(&amp;A)</translation>
        </message>
        <message>
            <source>No network is open</source>
            <translation>没有打开的网络</translation>
        </message>
        <message>
            <source>run %1, %2, %3</source>
            <translation>运行 %1，%2，%3</translation>
        </message>
        <message>
            <source>There are no others</source>
            <translation>没有其他运行</translation>
        </message>
        <message>
            <source>Latest runs of other projects</source>
            <translation>其他项目的最近一次运行</translation>
        </message>
        <message>
            <source>Add the latest run of a project</source>
            <translation>添加某个项目最近一次的运行</translation>
        </message>
        <message>
            <source>Lathe projects (*.lathe)</source>
            <translation>Lathe 项目 (*.lathe)</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::RunOverlays</name>
        <message>
            <source>%1, run %2</source>
            <translation>%1，运行 %2</translation>
        </message>
    </context>
    <context>
        <name>TaskActions</name>
        <message>
            <source>Select the tas&amp;k</source>
            <translation>选中此任务(&amp;K)</translation>
        </message>
        <message>
            <source>Show its &amp;trials</source>
            <translation>显示其试验(&amp;T)</translation>
        </message>
        <message>
            <source>Show its &amp;failed trials</source>
            <translation>显示其失败的试验(&amp;F)</translation>
        </message>
        <message>
            <source>Copy its &amp;name</source>
            <translation>复制其名称(&amp;N)</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::Weights</name>
        <message>
            <source>reordered for the layout</source>
            <translation>按布局重排</translation>
        </message>
        <message>
            <source>scaled</source>
            <translation>已缩放</translation>
        </message>
        <message>
            <source>transposed</source>
            <translation>已转置</translation>
        </message>
        <message>
            <source>reshaped</source>
            <translation>已变形</translation>
        </message>
        <message>
            <source>converted</source>
            <translation>已转换类型</translation>
        </message>
        <message>
            <source>dequantized</source>
            <translation>已反量化</translation>
        </message>
        <message>
            <source>quantized</source>
            <translation>已量化</translation>
        </message>
        <message>
            <source>joined</source>
            <translation>已拼接</translation>
        </message>
        <message>
            <source>sliced</source>
            <translation>已切片</translation>
        </message>
        <message>
            <source>%1 more</source>
            <translation>另 %1 个</translation>
        </message>
        <message>
            <source>constant of %1</source>
            <translation>%1 的常量</translation>
        </message>
        <message>
            <source>combined</source>
            <translation>已合并</translation>
        </message>
        <message>
            <source>computed</source>
            <translation>已计算</translation>
        </message>
        <message>
            <source>, </source>
            <translation>，</translation>
        </message>
    </context>
    <context>
        <name>Farm</name>
        <message>
            <source>free</source>
            <translation>空闲</translation>
        </message>
        <message>
            <source>offered</source>
            <translation>已提供</translation>
        </message>
        <message>
            <source>busy</source>
            <translation>使用中</translation>
        </message>
        <message>
            <source>draining</source>
            <translation>排空中</translation>
        </message>
        <message>
            <source>drained</source>
            <translation>已排空</translation>
        </message>
        <message>
            <source>sick</source>
            <translation>异常</translation>
        </message>
        <message>
            <source>lost</source>
            <translation>失联</translation>
        </message>
        <message>
            <source>Nobody has it; the next run gets it</source>
            <translation>没有人使用；下一次运行会得到它</translation>
        </message>
        <message>
            <source>Offered to a program that has not taken it yet</source>
            <translation>已提供给一个程序，尚未被接受</translation>
        </message>
        <message>
            <source>A run has it</source>
            <translation>某次运行正在使用</translation>
        </message>
        <message>
            <source>A run has it; nobody gets it afterwards until it is resumed</source>
            <translation>某次运行正在使用；之后不再分配，直到恢复</translation>
        </message>
        <message>
            <source>Nobody gets it until it is resumed</source>
            <translation>不再分配，直到恢复</translation>
        </message>
        <message>
            <source>Its own checks fail: nobody gets it until they pass again</source>
            <translation>自身检查未通过：在重新通过之前不会分配</translation>
        </message>
        <message>
            <source>Nothing is heard of it any more: it is off, or cannot reach the broker</source>
            <translation>收不到它的消息：它已关机，或无法连接代理</translation>
        </message>
        <message>
            <source>%1 s</source>
            <translation>%1 秒</translation>
        </message>
        <message>
            <source>%1 min %2 s</source>
            <translation>%1 分 %2 秒</translation>
        </message>
        <message>
            <source>%1 h %2 min</source>
            <translation>%1 小时 %2 分</translation>
        </message>
        <message>
            <source>%1 d %2 h</source>
            <translation>%1 天 %2 小时</translation>
        </message>
        <message>
            <source>you (%1)</source>
            <translation>您（%1）</translation>
        </message>
        <message>
            <source>Load</source>
            <translation>负载</translation>
        </message>
        <message>
            <source>Free memory</source>
            <translation>空闲内存</translation>
        </message>
        <message>
            <source>Temperature</source>
            <translation>温度</translation>
        </message>
        <message>
            <source>Clock</source>
            <translation>频率</translation>
        </message>
        <message>
            <source>✕ Lost: nothing was heard of it any more</source>
            <translation>✕ 失联：收不到它的消息</translation>
        </message>
        <message>
            <source>▲ Sick: its own checks failed</source>
            <translation>▲ 异常：自身检查未通过</translation>
        </message>
        <message>
            <source>▲ Sick: %1</source>
            <translation>▲ 异常：%1</translation>
        </message>
        <message>
            <source>! Error: %1</source>
            <translation>! 错误：%1</translation>
        </message>
        <message>
            <source>✓ Back, and well</source>
            <translation>✓ 已恢复，状态良好</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::AddDeviceDialog</name>
        <message>
            <source>Add a device</source>
            <translation>添加设备</translation>
        </message>
        <message>
            <source>A machine's devices join the farm when lathe-runner runs there. Runs ask for devices by their key: give the same key to devices that are equal.</source>
            <translation>在一台机器上运行 lathe-runner，它的设备就加入设备群。运行按键请求设备：请给相同的设备以相同的键。</translation>
        </message>
        <message>
            <source>&amp;Key:</source>
            <translation>键(&amp;K)：</translation>
        </message>
        <message>
            <source>Key</source>
            <translation>键</translation>
        </message>
        <message>
            <source>&amp;Make the command</source>
            <translation>生成命令(&amp;M)</translation>
        </message>
        <message>
            <source>Also makes a token, if the broker wants one</source>
            <translation>如果代理需要，同时生成令牌</translation>
        </message>
        <message>
            <source>Run this on the machine that has the devices:</source>
            <translation>在有设备的机器上执行：</translation>
        </message>
        <message>
            <source>Command to run on the other machine</source>
            <translation>在另一台机器上执行的命令</translation>
        </message>
        <message>
            <source>&amp;Copy</source>
            <translation>复制(&amp;C)</translation>
        </message>
        <message>
            <source>Copy the command</source>
            <translation>复制命令</translation>
        </message>
        <message>
            <source>Copy this token file there first. It lets one runner in: give it to nobody else.</source>
            <translation>请先把这个令牌文件复制到那台机器。它只供一个运行程序使用：不要交给其他人。</translation>
        </message>
        <message>
            <source>Token file</source>
            <translation>令牌文件</translation>
        </message>
        <message>
            <source>Co&amp;py</source>
            <translation>复制(&amp;P)</translation>
        </message>
        <message>
            <source>Copy the path</source>
            <translation>复制路径</translation>
        </message>
        <message>
            <source>&amp;Open folder</source>
            <translation>打开文件夹(&amp;O)</translation>
        </message>
        <message>
            <source>Working…</source>
            <translation>正在处理…</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::FarmDetail</name>
        <message>
            <source>No faults since this window began to watch the farm.</source>
            <translation>本窗口开始观察设备群以来没有故障。</translation>
        </message>
        <message>
            <source>Choose a device to see its faults.</source>
            <translation>选择一个设备以查看其故障。</translation>
        </message>
        <message>
            <source>Selected device</source>
            <translation>所选设备</translation>
        </message>
        <message>
            <source>Device</source>
            <translation>设备</translation>
        </message>
        <message>
            <source>Health</source>
            <translation>健康</translation>
        </message>
        <message>
            <source>Faults</source>
            <translation>故障</translation>
        </message>
        <message>
            <source>What the device is</source>
            <translation>设备说明</translation>
        </message>
        <message>
            <source>Choose a device to see what it is.</source>
            <translation>选择一个设备以查看其说明。</translation>
        </message>
        <message>
            <source>Curves of the device's health</source>
            <translation>设备健康曲线</translation>
        </message>
        <message>
            <source>Faults of the device</source>
            <translation>设备的故障</translation>
        </message>
        <message>
            <source>Faults (%1)</source>
            <translation>故障（%1）</translation>
        </message>
        <message>
            <source>%1: %2</source>
            <translation>%1：%2</translation>
        </message>
        <message>
            <source>%1 (key %2)</source>
            <translation>%1（键 %2）</translation>
        </message>
        <message>
            <source>Host</source>
            <translation>主机</translation>
        </message>
        <message>
            <source>Machine</source>
            <translation>机器</translation>
        </message>
        <message>
            <source>Lathe</source>
            <translation>Lathe</translation>
        </message>
        <message>
            <source>Measures %1: %2</source>
            <translation>测量 %1：%2</translation>
        </message>
        <message>
            <source>Measures %1: %2 (%3)</source>
            <translation>测量 %1：%2（%3）</translation>
        </message>
        <message>
            <source>User</source>
            <translation>用户</translation>
        </message>
        <message>
            <source>Program</source>
            <translation>程序</translation>
        </message>
        <message>
            <source>Last error</source>
            <translation>最近的错误</translation>
        </message>
        <message>
            <source>Drained by</source>
            <translation>排空者</translation>
        </message>
        <message>
            <source>Processors: %1</source>
            <translation>处理器：%1</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::FarmDeviceModel</name>
        <message>
            <source>%1, %2 ago</source>
            <translation>%1，%2前</translation>
        </message>
        <message>
            <source>%1: %2</source>
            <translation>%1：%2</translation>
        </message>
        <message>
            <source>Runs ask for devices by their key</source>
            <translation>运行按键请求设备</translation>
        </message>
        <message>
            <source>How long it has been measuring, for whom, and in which program</source>
            <translation>已测量多久、为谁、在哪个程序中</translation>
        </message>
        <message>
            <source>Processes that want to run on its machine, one minute's mean</source>
            <translation>其机器上等待运行的进程数，一分钟平均值</translation>
        </message>
        <message>
            <source>Measured since its runner was started</source>
            <translation>自其运行程序启动以来的测量次数</translation>
        </message>
        <message>
            <source>State</source>
            <translation>状态</translation>
        </message>
        <message>
            <source>Device</source>
            <translation>设备</translation>
        </message>
        <message>
            <source>Key</source>
            <translation>键</translation>
        </message>
        <message>
            <source>Run</source>
            <translation>运行</translation>
        </message>
        <message>
            <source>Load</source>
            <translation>负载</translation>
        </message>
        <message>
            <source>Temp.</source>
            <translation>温度</translation>
        </message>
        <message>
            <source>Trials</source>
            <translation>试验</translation>
        </message>
        <message>
            <source>Last error</source>
            <translation>最近的错误</translation>
        </message>
        <message>
            <source>Host</source>
            <translation>主机</translation>
        </message>
        <message>
            <source>Hardware</source>
            <translation>硬件</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::FarmFaultModel</name>
        <message>
            <source>Time</source>
            <translation>时间</translation>
        </message>
        <message>
            <source>What happened</source>
            <translation>发生了什么</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::FarmKeyModel</name>
        <message>
            <source>Programs that have no device of this key</source>
            <translation>没有得到该键设备的程序</translation>
        </message>
        <message>
            <source>Key</source>
            <translation>键</translation>
        </message>
        <message>
            <source>Devices</source>
            <translation>设备</translation>
        </message>
        <message>
            <source>Free</source>
            <translation>空闲</translation>
        </message>
        <message>
            <source>Waiting</source>
            <translation>等待</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::FarmPanel</name>
        <message>
            <source>Nobody waits for a device.</source>
            <translation>没有人在等待设备。</translation>
        </message>
        <message>
            <source>&amp;Broker:</source>
            <translation>代理(&amp;B)：</translation>
        </message>
        <message>
            <source>Broker</source>
            <translation>代理</translation>
        </message>
        <message>
            <source>HOST:PORT</source>
            <translation>主机:端口</translation>
        </message>
        <message>
            <source>Where the farm's broker is: HOST:PORT, or tls://HOST:PORT</source>
            <translation>设备群的代理在哪里：主机:端口，或 tls://主机:端口</translation>
        </message>
        <message>
            <source>&amp;Token:</source>
            <translation>令牌(&amp;T)：</translation>
        </message>
        <message>
            <source>Token file</source>
            <translation>令牌文件</translation>
        </message>
        <message>
            <source>none</source>
            <translation>无</translation>
        </message>
        <message>
            <source>The file that lets you in, if the broker does not let everybody in</source>
            <translation>如果代理不是人人可进，这个文件让您进入</translation>
        </message>
        <message>
            <source>C&amp;hoose…</source>
            <translation>选择(&amp;H)…</translation>
        </message>
        <message>
            <source>Choose the token file</source>
            <translation>选择令牌文件</translation>
        </message>
        <message>
            <source>&amp;Add a device…</source>
            <translation>添加设备(&amp;A)…</translation>
        </message>
        <message>
            <source>What to run on another machine so that its devices join the farm</source>
            <translation>在另一台机器上执行什么，使其设备加入设备群</translation>
        </message>
        <message>
            <source>Devices of the farm</source>
            <translation>设备群的设备</translation>
        </message>
        <message>
            <source>Programs that wait for devices</source>
            <translation>等待设备的程序</translation>
        </message>
        <message>
            <source>Keys of the farm</source>
            <translation>设备群的键</translation>
        </message>
        <message>
            <source>Queue</source>
            <translation>队列</translation>
        </message>
        <message>
            <source>&amp;Use for runs</source>
            <translation>用于运行(&amp;U)</translation>
        </message>
        <message>
            <source>The next run measures on the devices of this key that are to be had</source>
            <translation>下一次运行在该键的可用设备上测量</translation>
        </message>
        <message>
            <source>Take &amp;out…</source>
            <translation>移出(&amp;O)…</translation>
        </message>
        <message>
            <source>Ends the runner of this device, once a run that has it is done with it</source>
            <translation>在使用它的运行用完之后，结束该设备的运行程序</translation>
        </message>
        <message>
            <source>Token for the broker</source>
            <translation>代理的令牌</translation>
        </message>
        <message>
            <source>&amp;Connect</source>
            <translation>连接(&amp;C)</translation>
        </message>
        <message>
            <source>Dis&amp;connect</source>
            <translation>断开(&amp;C)</translation>
        </message>
        <message>
            <source>Connecting…</source>
            <translation>正在连接…</translation>
        </message>
        <message>
            <source>Connected to %1, to look only</source>
            <translation>已连接到 %1，只能查看</translation>
        </message>
        <message>
            <source>Connected to %1 as %2</source>
            <translation>已作为 %2 连接到 %1</translation>
        </message>
        <message>
            <source>The broker does not answer. Shown is what was heard last, at %1.</source>
            <translation>代理没有应答。显示的是 %1 最后收到的内容。</translation>
        </message>
        <message>
            <source>A farm is devices of other machines, which several people's runs share by way of a broker. Name the broker above.</source>
            <translation>设备群是其他机器上的设备，由几个人的运行通过代理共享。请在上面填写代理。</translation>
        </message>
        <message>
            <source>Connecting to %1…</source>
            <translation>正在连接 %1…</translation>
        </message>
        <message>
            <source>No device offers itself. On a machine that has one, run: lathe-runner --broker %1 --key KEY</source>
            <translation>没有设备加入。请在有设备的机器上执行：lathe-runner --broker %1 --key KEY</translation>
        </message>
        <message>
            <source>Listening for devices…</source>
            <translation>正在等候设备的消息…</translation>
        </message>
        <message>
            <source>The broker at %1 does not answer.</source>
            <translation>位于 %1 的代理没有应答。</translation>
        </message>
        <message>
            <source>%1
It is tried again every few seconds.</source>
            <translation>%1
每隔几秒会再试一次。</translation>
        </message>
        <message>
            <source>Queue (you: place %1)</source>
            <translation>队列（您：第 %1 位）</translation>
        </message>
        <message>
            <source>Queue (%1)</source>
            <translation>队列（%1）</translation>
        </message>
        <message>
            <source>&amp;Stop self-test</source>
            <translation>停止自检(&amp;S)</translation>
        </message>
        <message>
            <source>&amp;Self-test</source>
            <translation>自检(&amp;S)</translation>
        </message>
        <message>
            <source>Build a small kernel, run it there once the device is free, and check its result</source>
            <translation>编译一个小内核，在设备空闲后在其上运行，并核对结果</translation>
        </message>
        <message>
            <source>&amp;Resume</source>
            <translation>恢复(&amp;R)</translation>
        </message>
        <message>
            <source>&amp;Drain</source>
            <translation>排空(&amp;D)</translation>
        </message>
        <message>
            <source>Runs get this device again</source>
            <translation>运行可以重新得到该设备</translation>
        </message>
        <message>
            <source>No further run gets this device; a run that has it finishes what is in hand</source>
            <translation>之后的运行不再得到该设备；正在使用它的运行会完成手头的工作</translation>
        </message>
        <message>
            <source>Stopping the self-test…</source>
            <translation>正在停止自检…</translation>
        </message>
        <message>
            <source>It does not say what it measures</source>
            <translation>它没有说明自己能测量什么</translation>
        </message>
        <message>
            <source>Self-test stopped</source>
            <translation>自检已停止</translation>
        </message>
        <message>
            <source>Self-test on %1 failed: %2</source>
            <translation>%1 自检失败：%2</translation>
        </message>
        <message>
            <source>Self-test on %1 passed in %2 (relative error %3)</source>
            <translation>%1 自检通过，用时 %2（相对误差 %3）</translation>
        </message>
        <message>
            <source>Self-test on %1 passed in %2</source>
            <translation>%1 自检通过，用时 %2</translation>
        </message>
        <message>
            <source>Self-test running…</source>
            <translation>自检进行中…</translation>
        </message>
        <message>
            <source>The self-test waits until the device is free…</source>
            <translation>自检等待设备空闲…</translation>
        </message>
        <message>
            <source>Take the device out</source>
            <translation>移出设备</translation>
        </message>
        <message>
            <source>%1 leaves the farm: its runner ends once a run that has it is done with it. To bring it back, lathe-runner has to be started on its machine.</source>
            <translation>%1 将离开设备群：在使用它的运行用完之后，其运行程序结束。要让它回来，须在其机器上启动 lathe-runner。</translation>
        </message>
        <message>
            <source>&amp;Take it out</source>
            <translation>移出(&amp;T)</translation>
        </message>
        <message>
            <source>&amp;Keep it</source>
            <translation>保留(&amp;K)</translation>
        </message>
        <message>
            <source>No further run gets it</source>
            <translation>之后的运行不再得到它</translation>
        </message>
        <message>
            <source>Runs get it again</source>
            <translation>运行可以重新得到它</translation>
        </message>
        <message>
            <source>It leaves the farm</source>
            <translation>它正在离开设备群</translation>
        </message>
        <message>
            <source>Telling the device…</source>
            <translation>正在通知设备…</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::FarmQueueModel</name>
        <message>
            <source>▶ you (%1)</source>
            <translation>▶ 您（%1）</translation>
        </message>
        <message>
            <source>One more is a share of twice as many devices</source>
            <translation>每高一级，所得设备加倍</translation>
        </message>
        <message>
            <source>Place</source>
            <translation>位次</translation>
        </message>
        <message>
            <source>Key</source>
            <translation>键</translation>
        </message>
        <message>
            <source>User</source>
            <translation>用户</translation>
        </message>
        <message>
            <source>Waited</source>
            <translation>已等待</translation>
        </message>
        <message>
            <source>Priority</source>
            <translation>优先级</translation>
        </message>
        <message>
            <source>Program</source>
            <translation>程序</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::HealthCurves</name>
        <message>
            <source>%1: %2</source>
            <translation>%1：%2</translation>
        </message>
        <message>
            <source>figure</source>
            <translation>指标</translation>
        </message>
        <message>
            <source>seconds</source>
            <translation>秒</translation>
        </message>
        <message>
            <source>value</source>
            <translation>值</translation>
        </message>
        <message>
            <source>%1 at %2: %3</source>
            <translation>%1，%2 时：%3</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::KnobCostModel</name>
        <message>
            <source>The fastest configuration of all as a share of this value's median: 100 % is the best that a value can have</source>
            <translation>最快的配置与该值代价中位数之比：100 % 是一个值所能达到的最好结果</translation>
        </message>
        <message>
            <source>Value</source>
            <translation>值</translation>
        </message>
        <message>
            <source>Median</source>
            <translation>中位数</translation>
        </message>
        <message>
            <source>Best</source>
            <translation>最佳</translation>
        </message>
        <message>
            <source>Speed</source>
            <translation>速度</translation>
        </message>
        <message>
            <source>Trials</source>
            <translation>试验</translation>
        </message>
        <message>
            <source>Failed</source>
            <translation>失败</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::KnobModel</name>
        <message>
            <source>split of an axis</source>
            <translation>轴的切分</translation>
        </message>
        <message>
            <source>order of loops</source>
            <translation>循环的顺序</translation>
        </message>
        <message>
            <source>marks of loops</source>
            <translation>循环的标记</translation>
        </message>
        <message>
            <source>option</source>
            <translation>选项</translation>
        </message>
        <message>
            <source>Choices: %1</source>
            <translation>可选值：%1</translation>
        </message>
        <message>
            <source>Knob</source>
            <translation>旋钮</translation>
        </message>
        <message>
            <source>Kind</source>
            <translation>种类</translation>
        </message>
        <message>
            <source>Extent</source>
            <translation>长度</translation>
        </message>
        <message>
            <source>Choices</source>
            <translation>可选</translation>
        </message>
        <message>
            <source>Tried</source>
            <translation>试过</translation>
        </message>
        <message>
            <source>In the fastest</source>
            <translation>最快的取值</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::LogPreviewDialog</name>
        <message numerus="yes">
            <source>%n files</source>
            <translation>
                <numerusform>%n 个文件</numerusform>
            </translation>
        </message>
        <message>
            <source>Reading %1…</source>
            <translation>正在读取 %1…</translation>
        </message>
        <message>
            <source>%1: the files contain no lines of a log.</source>
            <translation>%1：文件中没有日志行。</translation>
        </message>
        <message numerus="yes">
            <source>%1: %Ln lines.</source>
            <translation>
                <numerusform>%1：%Ln 行。</numerusform>
            </translation>
        </message>
        <message>
            <source>Nothing in it can be imported.</source>
            <translation>其中没有可以导入的内容。</translation>
        </message>
        <message numerus="yes">
            <source>%Ln records are in the project already.</source>
            <translation>
                <numerusform>%Ln 条记录项目中已有。</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <source>%Ln lines will be skipped.</source>
            <translation>
                <numerusform>将跳过 %Ln 行。</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <source>%Ln records were measured elsewhere by another tuner: exports use them only after they are measured again here.</source>
            <translation>
                <numerusform>%Ln 条记录由其他调优器在别处测得：在本机重新测量之后，导出才会使用它们。</numerusform>
            </translation>
        </message>
        <message>
            <source>Import tuning logs</source>
            <translation>导入调优日志</translation>
        </message>
        <message>
            <source>&amp;Import</source>
            <translation>导入(&amp;I)</translation>
        </message>
        <message>
            <source>&amp;Cancel</source>
            <translation>取消(&amp;C)</translation>
        </message>
        <message>
            <source>C&amp;lose</source>
            <translation>关闭(&amp;L)</translation>
        </message>
        <message>
            <source>How far the logs have been read</source>
            <translation>日志读取的进度</translation>
        </message>
        <message>
            <source>none of this network</source>
            <translation>本网络中没有</translation>
        </message>
        <message>
            <source>the template is unknown here</source>
            <translation>此处没有该模板</translation>
        </message>
        <message>
            <source>Workloads of template tuners</source>
            <translation>模板调优器的工作负载</translation>
        </message>
        <message>
            <source>Template</source>
            <translation>模板</translation>
        </message>
        <message>
            <source>Trials</source>
            <translation>试验</translation>
        </message>
        <message>
            <source>Failed</source>
            <translation>失败</translation>
        </message>
        <message>
            <source>Best</source>
            <translation>最佳</translation>
        </message>
        <message>
            <source>Tasks</source>
            <translation>任务</translation>
        </message>
        <message>
            <source>Best configuration</source>
            <translation>最佳配置</translation>
        </message>
        <message>
            <source>Target</source>
            <translation>目标</translation>
        </message>
        <message>
            <source>Tasks that get records</source>
            <translation>将得到记录的任务</translation>
        </message>
        <message>
            <source>Task</source>
            <translation>任务</translation>
        </message>
        <message>
            <source>New records</source>
            <translation>新记录</translation>
        </message>
        <message>
            <source>%1, line %2</source>
            <translation>%1，第 %2 行</translation>
        </message>
        <message>
            <source>Lines that will be skipped</source>
            <translation>将跳过的行</translation>
        </message>
        <message>
            <source>Lines</source>
            <translation>行数</translation>
        </message>
        <message>
            <source>Why</source>
            <translation>原因</translation>
        </message>
        <message>
            <source>First of them</source>
            <translation>其中第一行</translation>
        </message>
        <message numerus="yes">
            <source>%Ln records will be imported (tasks: %1).</source>
            <translation>
                <numerusform>将导入 %Ln 条记录（任务：%1）。</numerusform>
            </translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::ParallelView</name>
        <message>
            <source>The fastest %1 are drawn.</source>
            <translation>画出其中最快的 %1 个。</translation>
        </message>
        <message>
            <source>failed</source>
            <translation>失败</translation>
        </message>
        <message>
            <source>Cost</source>
            <translation>代价</translation>
        </message>
        <message numerus="yes">
            <source>%Ln trials.</source>
            <translation>
                <numerusform>%Ln 次试验。</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <source>%Ln trials, %1 of them failed.</source>
            <translation>
                <numerusform>%Ln 次试验，其中 %1 次失败。</numerusform>
            </translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::TemplatesPage</name>
        <message>
            <source>Template</source>
            <translation>模板</translation>
        </message>
        <message>
            <source>The templates that compute this task</source>
            <translation>可以计算该任务的模板</translation>
        </message>
        <message>
            <source>Measured for</source>
            <translation>测量目标</translation>
        </message>
        <message>
            <source>What the trials were measured for: costs of different devices do not compare</source>
            <translation>试验是为什么目标测量的：不同设备的代价不可比较</translation>
        </message>
        <message>
            <source>Configurations as lines through the knobs</source>
            <translation>以穿过各旋钮的线表示的配置</translation>
        </message>
        <message>
            <source>Knobs of the template</source>
            <translation>模板的旋钮</translation>
        </message>
        <message>
            <source>Cost by the values of the knob</source>
            <translation>按旋钮取值划分的代价</translation>
        </message>
        <message>
            <source>templates</source>
            <translation>模板</translation>
        </message>
        <message>
            <source>measured for this target</source>
            <translation>为本目标测量</translation>
        </message>
        <message>
            <source>Open a network to see the templates of its tasks.</source>
            <translation>打开网络即可查看其任务的模板。</translation>
        </message>
        <message>
            <source>Looking for templates…</source>
            <translation>正在查找模板…</translation>
        </message>
        <message>
            <source>No template computes a task of this network on this target.</source>
            <translation>在此目标上，没有模板可以计算该网络的任务。</translation>
        </message>
        <message>
            <source>Select a task to see its templates.</source>
            <translation>选择一个任务即可查看其模板。</translation>
        </message>
        <message>
            <source>No template computes this task on this target.</source>
            <translation>在此目标上，没有模板可以计算该任务。</translation>
        </message>
        <message>
            <source>This template cannot be turned into code yet: its space can be looked at, not measured.</source>
            <translation>该模板尚不能转换为代码：可以查看其空间，但不能测量。</translation>
        </message>
        <message>
            <source>Nothing was measured with this template yet. Choose the policy template for the next run, or import a log of a template tuner.</source>
            <translation>尚未用该模板测量过。可以为下一次运行选择策略 template，或导入模板调优器的日志。</translation>
        </message>
        <message>
            <source>all of them valid</source>
            <translation>全部有效</translation>
        </message>
        <message>
            <source>nearly all of them valid</source>
            <translation>几乎全部有效</translation>
        </message>
        <message>
            <source>%1 % of them invalid</source>
            <translation>其中 %1 % 无效</translation>
        </message>
        <message>
            <source>about %1 % of them invalid</source>
            <translation>其中约 %1 % 无效</translation>
        </message>
        <message>
            <source>%1: %2 configurations of %3 knobs, %4.</source>
            <translation>%1：%3 个旋钮，共 %2 个配置，%4。</translation>
        </message>
        <message>
            <source>The space is searched for the task %1; this one measures what was best there.</source>
            <translation>该空间为任务 %1 搜索；本任务测量那里最好的配置。</translation>
        </message>
        <message>
            <source>%1 %2: the template is used, the search has not measured this task.</source>
            <translation>%1 为 %2：使用模板，搜索尚未测量该任务。</translation>
        </message>
        <message>
            <source>%1 %2, sketch %3: the template is used.</source>
            <translation>%1 为 %2，草图为 %3：使用模板。</translation>
        </message>
        <message>
            <source>%1 %2, sketch %3: the sketch is used.</source>
            <translation>%1 为 %2，草图为 %3：使用草图。</translation>
        </message>
        <message>
            <source>Trial %1</source>
            <translation>试验 %1</translation>
        </message>
        <message>
            <source>Cost by %1</source>
            <translation>按 %1 划分的代价</translation>
        </message>
        <message>
            <source>Fastest trial so far: %1 with %2</source>
            <translation>目前最快的试验：%1，%2</translation>
        </message>
        <message>
            <source>By the records that an export chooses from: where finals measured them again, the figures are those of the finals</source>
            <translation>按导出时可供选择的记录：在决赛中重新测量过的，以决赛的数字为准</translation>
        </message>
        <message>
            <source>What is best here is also measured for %1.</source>
            <translation>这里最好的配置也会为 %1 测量。</translation>
        </message>
        <message>
            <source>from a log: %1</source>
            <translation>来自日志：%1</translation>
        </message>
        <message>
            <source>The trials could not be read: %1</source>
            <translation>无法读取试验：%1</translation>
        </message>
        <message>
            <source>Reading the trials…</source>
            <translation>正在读取试验…</translation>
        </message>
        <message>
            <source>Fastest trial so far (%1): %2 with %3</source>
            <translation>目前最快的试验（%1）：%2，%3</translation>
        </message>
        <message>
            <source>Trial %1 (%2)</source>
            <translation>试验 %1（%2）</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::LayoutTensorModel</name>
        <message>
            <source>rest of the network</source>
            <translation>网络的其余部分</translation>
        </message>
        <message>
            <source>Converted from %1 to %2, which takes %3</source>
            <translation>从 %1 转换为 %2，需要 %3</translation>
        </message>
        <message>
            <source>Read as it is written: nothing is converted</source>
            <translation>按写入的布局读取：无需转换</translation>
        </message>
        <message>
            <source>From</source>
            <translation>来自</translation>
        </message>
        <message>
            <source>To</source>
            <translation>去往</translation>
        </message>
        <message>
            <source>Written as</source>
            <translation>写入布局</translation>
        </message>
        <message>
            <source>Read as</source>
            <translation>读取布局</translation>
        </message>
        <message>
            <source>Conversion</source>
            <translation>转换</translation>
        </message>
        <message>
            <source>Shape</source>
            <translation>形状</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::LayoutFigureModel</name>
        <message>
            <source>Default</source>
            <translation>默认</translation>
        </message>
        <message>
            <source>Kernel-tuned</source>
            <translation>内核已调优</translation>
        </message>
        <message>
            <source>Graph-tuned</source>
            <translation>图已调优</translation>
        </message>
        <message>
            <source>As tried</source>
            <translation>尝试的布局</translation>
        </message>
        <message>
            <source>The default schedules, as they were measured, in the network&apos;s own layout</source>
            <translation>按实测的默认调度，采用网络自身的布局</translation>
        </message>
        <message>
            <source>The fastest kernel of each function, and the conversions that these need</source>
            <translation>每个函数最快的内核，以及它们所需的转换</translation>
        </message>
        <message>
            <source>The kernels and layouts that were chosen for the network as a whole</source>
            <translation>为整个网络选择的内核和布局</translation>
        </message>
        <message>
            <source>What the graph tuner chooses with the layouts that are tried</source>
            <translation>采用所尝试的布局时图调优器的选择</translation>
        </message>
        <message>
            <source>The sum by that of the default schedules: 0.50 is twice as fast</source>
            <translation>总和与默认调度总和之比：0.50 即快一倍</translation>
        </message>
        <message>
            <source>Network</source>
            <translation>网络</translation>
        </message>
        <message>
            <source>Kernels</source>
            <translation>内核</translation>
        </message>
        <message>
            <source>Conversions</source>
            <translation>转换</translation>
        </message>
        <message>
            <source>Sum</source>
            <translation>总和</translation>
        </message>
        <message>
            <source>Against default</source>
            <translation>与默认之比</translation>
        </message>
        <message numerus="yes">
            <source>The default schedules of %Ln functions were not measured under the same conditions</source>
            <translation>
                <numerusform>有 %Ln 个函数的默认调度未在相同条件下测量</numerusform>
            </translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::LayoutFunctionModel</name>
        <message>
            <source>It only takes several inputs, which must have the same layout</source>
            <translation>只接收多个输入，它们的布局必须相同</translation>
        </message>
        <message>
            <source>Its task has no valid record: it runs with a default schedule</source>
            <translation>其任务没有有效的记录：使用默认调度</translation>
        </message>
        <message>
            <source>Kernel of the trial %1</source>
            <translation>试验 %1 的内核</translation>
        </message>
        <message>
            <source>Function</source>
            <translation>函数</translation>
        </message>
        <message>
            <source>Reads</source>
            <translation>读取</translation>
        </message>
        <message>
            <source>Writes</source>
            <translation>写入</translation>
        </message>
        <message>
            <source>Kernel</source>
            <translation>内核</translation>
        </message>
        <message>
            <source>Change</source>
            <translation>变化</translation>
        </message>
        <message>
            <source>Task</source>
            <translation>任务</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::LayoutsPanel</name>
        <message>
            <source>Tensors</source>
            <translation>张量</translation>
        </message>
        <message>
            <source>Functions</source>
            <translation>函数</translation>
        </message>
        <message>
            <source>The network by default, kernel-tuned and graph-tuned</source>
            <translation>默认、内核已调优和图已调优的网络</translation>
        </message>
        <message>
            <source>Layouts of the tensors</source>
            <translation>张量的布局</translation>
        </message>
        <message>
            <source>Layouts and kernels of the functions</source>
            <translation>函数的布局和内核</translation>
        </message>
        <message>
            <source>Layout to try</source>
            <translation>要尝试的布局</translation>
        </message>
        <message>
            <source>Shows how long the network would take; exports choose for themselves</source>
            <translation>显示网络将需要的时间；导出时会自行选择</translation>
        </message>
        <message>
            <source>&amp;Try the layout:</source>
            <translation>尝试布局(&amp;T)：</translation>
        </message>
        <message>
            <source>&amp;Measure conversions</source>
            <translation>测量转换(&amp;M)</translation>
        </message>
        <message>
            <source>Times the conversions that were never timed on this machine, and keeps the results with the project</source>
            <translation>为从未在本机计时的转换计时，并把结果保存在项目中</translation>
        </message>
        <message>
            <source>A replay does not choose layouts: open the project itself.</source>
            <translation>回放不选择布局：请打开项目本身。</translation>
        </message>
        <message>
            <source>Measuring conversions…</source>
            <translation>正在测量转换…</translation>
        </message>
        <message>
            <source>Choosing layouts…</source>
            <translation>正在选择布局…</translation>
        </message>
        <message>
            <source>No record of this project has a layout of its own: all tensors have the layout of the network. Templates make records with layouts.</source>
            <translation>该项目的记录都没有自己的布局：所有张量都按网络的布局存放。模板会产生带布局的记录。</translation>
        </message>
        <message>
            <source>These layouts do not go together: no kernels were measured for all of them.</source>
            <translation>这些布局不能同时使用：没有为它们全部测量过内核。</translation>
        </message>
        <message>
            <source>Open a network to see the layouts of its tensors.</source>
            <translation>打开网络即可查看其张量的布局。</translation>
        </message>
        <message>
            <source>%1 of %2 tensors are converted.</source>
            <translation>%2 个张量中有 %1 个需要转换。</translation>
        </message>
        <message>
            <source>A faster choice may exist.</source>
            <translation>可能存在更快的选择。</translation>
        </message>
        <message>
            <source>They can only be timed on the device of the records, which is not here.</source>
            <translation>它们只能在记录所属的设备上计时，而该设备不在此处。</translation>
        </message>
        <message numerus="yes">
            <source>The times of %Ln conversions are estimates.</source>
            <translation>
                <numerusform>%Ln 个转换的时间是估计值。</numerusform>
            </translation>
        </message>
        <message>
            <source>Working out what changes…</source>
            <translation>正在计算变化…</translation>
        </message>
        <message>
            <source>The network takes as long as before.</source>
            <translation>网络所需时间不变。</translation>
        </message>
        <message>
            <source>The network takes %1, %2 against what was chosen.</source>
            <translation>网络需要 %1，与所选布局相比 %2。</translation>
        </message>
        <message>
            <source>No function changes its kernel.</source>
            <translation>没有函数更换内核。</translation>
        </message>
        <message>
            <source>Other kernels or layouts: %1.</source>
            <translation>更换内核或布局：%1。</translation>
        </message>
        <message>
            <source>select a row first</source>
            <translation>请先选择一行</translation>
        </message>
        <message>
            <source>as chosen</source>
            <translation>按所选</translation>
        </message>
        <message>
            <source>&amp;Clear tried layouts</source>
            <translation>清除试过的布局(&amp;C)</translation>
        </message>
        <message>
            <source>Layouts</source>
            <translation>布局</translation>
        </message>
        <message>
            <source>The layouts could not be chosen: %1</source>
            <translation>无法选择布局：%1</translation>
        </message>
        <message>
            <source>Functions that were never timed count as 0 here: %1 of %2.</source>
            <translation>从未计时的函数在此按 0 计：%2 个中的 %1 个。</translation>
        </message>
        <message>
            <source>Other kernels or layouts: %1, and %2 more.</source>
            <translation>更换内核或布局：%1，以及另外 %2 个。</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::TunerParameterModel</name>
        <message>
            <source>0 or 1</source>
            <translation>0 或 1</translation>
        </message>
        <message>
            <source>%1 to %2</source>
            <translation>%1 到 %2</translation>
        </message>
        <message>
            <source>Parameter</source>
            <translation>参数</translation>
        </message>
        <message>
            <source>Value</source>
            <translation>值</translation>
        </message>
        <message>
            <source>Usual</source>
            <translation>通常</translation>
        </message>
        <message>
            <source>Range</source>
            <translation>范围</translation>
        </message>
        <message>
            <source>Meaning</source>
            <translation>含义</translation>
        </message>
        <message>
            <source>%1 takes %2 from %3 to %4, not “%5”</source>
            <translation>%1 应为从 %3 到 %4 的%2，而不是“%5”</translation>
        </message>
        <message>
            <source>a whole number</source>
            <translation>整数</translation>
        </message>
        <message>
            <source>a number</source>
            <translation>数</translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::RunOptionsDialog</name>
        <message>
            <source>&amp;Policy:</source>
            <translation>策略(&amp;P)：</translation>
        </message>
        <message>
            <source>P&amp;reset:</source>
            <translation>预设(&amp;R)：</translation>
        </message>
        <message>
            <source>&amp;Tuner:</source>
            <translation>调优器(&amp;T)：</translation>
        </message>
        <message>
            <source>&amp;Leave a task after:</source>
            <translation>离开任务的条件(&amp;L)：</translation>
        </message>
        <message>
            <source>Only these &amp;operators:</source>
            <translation>仅这些算子(&amp;O)：</translation>
        </message>
        <message>
            <source>Only these task &amp;numbers:</source>
            <translation>仅这些任务编号(&amp;N)：</translation>
        </message>
        <message>
            <source>%1 is not the number of a task: they go from 0 to %2</source>
            <translation>%1 不是任务的编号：编号从 0 到 %2</translation>
        </message>
        <message>
            <source>Presets tune templates as the tutorials of the reference compiler do.</source>
            <translation>预设按参考编译器教程的方式调优模板。</translation>
        </message>
        <message>
            <source>Sets%1. What was set otherwise for this project's runs stays.</source>
            <translation>设置%1。该项目的运行另行设置过的内容保持不变。</translation>
        </message>
        <message>
            <source>the usual one: %1</source>
            <translation>通常的：%1</translation>
        </message>
        <message>
            <source>the preset's: %1</source>
            <translation>预设的：%1</translation>
        </message>
        <message>
            <source>Only the policy template has a tuner.</source>
            <translation>只有策略 template 有调优器。</translation>
        </message>
        <message>
            <source>Run options</source>
            <translation>运行选项</translation>
        </message>
        <message>
            <source>none</source>
            <translation>无</translation>
        </message>
        <message>
            <source>Parameters of the tuner</source>
            <translation>调优器的参数</translation>
        </message>
        <message>
            <source>never</source>
            <translation>从不</translation>
        </message>
        <message>
            <source> trials without a gain</source>
            <translation> 次试验没有收益</translation>
        </message>
        <message>
            <source>all, or for instance conv2d, dense</source>
            <translation>全部，或例如 conv2d, dense</translation>
        </message>
        <message>
            <source>Other tasks are measured once as they are without tuning</source>
            <translation>其他任务按未调优的状态测量一次</translation>
        </message>
        <message>
            <source>all, or for instance 0, 3</source>
            <translation>全部，或例如 0, 3</translation>
        </message>
        <message>
            <source>&amp;OK</source>
            <translation>确定(&amp;O)</translation>
        </message>
        <message>
            <source>&amp;Cancel</source>
            <translation>取消(&amp;C)</translation>
        </message>
        <message>
            <source>&amp;Usual options</source>
            <translation>通常的选项(&amp;U)</translation>
        </message>
        <message>
            <source>The options of a run for which nothing was chosen</source>
            <translation>未作任何选择时运行所用的选项</translation>
        </message>
    </context>
    <context>
        <name>Tuners</name>
        <message>
            <source>Lathe's search</source>
            <translation>Lathe 的搜索</translation>
        </message>
        <message>
            <source>the reference compiler's rules</source>
            <translation>参考编译器的规则</translation>
        </message>
        <message>
            <source>no cost model</source>
            <translation>没有代价模型</translation>
        </message>
        <message>
            <source>schedules with knobs, by a tuner</source>
            <translation>带旋钮的调度，由调优器选择</translation>
        </message>
        <message>
            <source>all configurations in order</source>
            <translation>按顺序逐个尝试全部配置</translation>
        </message>
        <message>
            <source>configurations at random, none twice</source>
            <translation>随机配置，不重复</translation>
        </message>
        <message>
            <source>breeding from good configurations</source>
            <translation>由好的配置繁殖</translation>
        </message>
        <message>
            <source>a Gaussian process that says where most is to be gained, for few trials</source>
            <translation>指出何处收益最大的高斯过程，适合少量试验</translation>
        </message>
        <message>
            <source>configurations that are random, before there is a model</source>
            <translation>有模型之前随机选取的配置数</translation>
        </message>
        <message>
            <source>results that a model is made of</source>
            <translation>构成模型的结果数</translation>
        </message>
        <message>
            <source>of these, results that its scales are fitted to</source>
            <translation>其中用于拟合尺度的结果数</translation>
        </message>
        <message>
            <source>boosted trees that guess throughput, of loops</source>
            <translation>预测吞吐量的提升树，看循环</translation>
        </message>
        <message>
            <source>boosted trees that guess throughput, of knobs</source>
            <translation>预测吞吐量的提升树，看旋钮</translation>
        </message>
        <message>
            <source>boosted trees that guess throughput, of curves of reuse</source>
            <translation>预测吞吐量的提升树，看重用曲线</translation>
        </message>
        <message>
            <source>boosted trees that rank, of loops</source>
            <translation>排序的提升树，看循环</translation>
        </message>
        <message>
            <source>boosted trees that rank, of knobs</source>
            <translation>排序的提升树，看旋钮</translation>
        </message>
        <message>
            <source>boosted trees that rank, of curves of reuse</source>
            <translation>排序的提升树，看重用曲线</translation>
        </message>
        <message>
            <source>boosted trees that rank, judged by halves, of loops</source>
            <translation>按两半判断的排序提升树，看循环</translation>
        </message>
        <message>
            <source>boosted trees that rank, judged by halves, of knobs</source>
            <translation>按两半判断的排序提升树，看旋钮</translation>
        </message>
        <message>
            <source>boosted trees that rank, judged by halves, of curves of reuse</source>
            <translation>按两半判断的排序提升树，看重用曲线</translation>
        </message>
        <message>
            <source>the first index that is looked at</source>
            <translation>查看的第一个索引</translation>
        </message>
        <message>
            <source>the last index that is looked at; -1: that of the space</source>
            <translation>查看的最后一个索引；-1：空间的最后一个</translation>
        </message>
        <message>
            <source>configurations of a generation</source>
            <translation>一代的配置数</translation>
        </message>
        <message>
            <source>best ones that are parents of every generation</source>
            <translation>每一代都作为父代的最好配置数</translation>
        </message>
        <message>
            <source>how probably a knob of a child gets a random choice</source>
            <translation>子代的旋钮取随机值的概率</translation>
        </message>
        <message>
            <source>configurations that are chosen by one model</source>
            <translation>由一个模型选出的配置数</translation>
        </message>
        <message>
            <source>so many times the plan are found, then the most different picked; below 1: not</source>
            <translation>找出计划的这么多倍，再挑最不相同的；小于 1：不这样做</translation>
        </message>
        <message>
            <source>share of a plan that is random</source>
            <translation>计划中随机的比例</translation>
        </message>
        <message>
            <source>whether it learns from other tasks of the template first</source>
            <translation>是否先从该模板的其他任务学习</translation>
        </message>
        <message>
            <source>threads that train the model</source>
            <translation>训练模型的线程数</translation>
        </message>
        <message>
            <source>walkers of the annealing</source>
            <translation>退火的游走者数</translation>
        </message>
        <message>
            <source>iterations of the annealing</source>
            <translation>退火的迭代次数</translation>
        </message>
        <message>
            <source>iterations without a change after which the annealing ends</source>
            <translation>退火在多少次迭代没有变化后结束</translation>
        </message>
        <message>
            <source>temperature that the annealing begins with</source>
            <translation>退火开始的温度</translation>
        </message>
        <message>
            <source>temperature that it ends with</source>
            <translation>退火结束的温度</translation>
        </message>
        <message>
            <source>whether walkers go on where they stood</source>
            <translation>游走者是否从原处继续</translation>
        </message>
        <message>
            <source>depth of the trees</source>
            <translation>树的深度</translation>
        </message>
        <message>
            <source>what each tree counts</source>
            <translation>每棵树的权重</translation>
        </message>
        <message>
            <source>least gain of a split</source>
            <translation>一次分裂的最小增益</translation>
        </message>
        <message>
            <source>least weight of a leaf</source>
            <translation>叶子的最小权重</translation>
        </message>
        <message>
            <source>trees at most</source>
            <translation>最多的树数</translation>
        </message>
    </context>
</TS>
