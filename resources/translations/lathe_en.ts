<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en">
    <context>
        <name>lathe::ui::CodeView</name>
        <message numerus="yes">
            <source>%n found</source>
            <translation>
                <numerusform>%n found</numerusform>
                <numerusform>%n found</numerusform>
            </translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::DiffView</name>
        <message numerus="yes">
            <source>      … %n more lines not shown …</source>
            <translation>
                <numerusform>      … %n more line not shown …</numerusform>
                <numerusform>      … %n more lines not shown …</numerusform>
            </translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::ExportDialog</name>
        <message numerus="yes">
            <source>%n tasks: %1 with a record, %2 with a near match, %3 on default schedules. Sum of tasks: %4</source>
            <translation>
                <numerusform>%n task: %1 with a record, %2 with a near match, %3 on default schedules. Sum of tasks: %4</numerusform>
                <numerusform>%n tasks: %1 with a record, %2 with a near match, %3 on default schedules. Sum of tasks: %4</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <source>%n tasks have no valid record: tune them, or allow default schedules</source>
            <translation>
                <numerusform>%n task has no valid record: tune it, or allow default schedules</numerusform>
                <numerusform>%n tasks have no valid record: tune them, or allow default schedules</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <source>Measured: %1 (median) with %n threads</source>
            <translation>
                <numerusform>Measured: %1 (median) with %n thread</numerusform>
                <numerusform>Measured: %1 (median) with %n threads</numerusform>
            </translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::GraphView</name>
        <message numerus="yes">
            <source>%n nodes; double-click to unfold</source>
            <translation>
                <numerusform>%n node; double-click to unfold</numerusform>
                <numerusform>%n nodes; double-click to unfold</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <source>%n items</source>
            <translation>
                <numerusform>%n item</numerusform>
                <numerusform>%n items</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <source>%n of them groups</source>
            <translation>
                <numerusform>%n of them a group</numerusform>
                <numerusform>%n of them groups</numerusform>
            </translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::MainWindow</name>
        <message numerus="yes">
            <source>Farm: %n devices, %1 free</source>
            <translation>
                <numerusform>Farm: %n device, %1 free</numerusform>
                <numerusform>Farm: %n devices, %1 free</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <source>%Ln trials</source>
            <translation>
                <numerusform>%Ln trial</numerusform>
                <numerusform>%Ln trials</numerusform>
            </translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::NetworkPage</name>
        <message numerus="yes">
            <source>%n found</source>
            <translation>
                <numerusform>%n found</numerusform>
                <numerusform>%n found</numerusform>
            </translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::RunNotice</name>
        <message numerus="yes">
            <source>Estimated %1 after %2 and %Ln trials</source>
            <translation>
                <numerusform>Estimated %1 after %2 and %Ln trial</numerusform>
                <numerusform>Estimated %1 after %2 and %Ln trials</numerusform>
            </translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::ScatterView</name>
        <message numerus="yes">
            <source>%Ln trials.</source>
            <translation>
                <numerusform>%Ln trial.</numerusform>
                <numerusform>%Ln trials.</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <source>%1 of %Ln trials visible.</source>
            <translation>
                <numerusform>%1 of %Ln trial visible.</numerusform>
                <numerusform>%1 of %Ln trials visible.</numerusform>
            </translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::StartPage</name>
        <message numerus="yes">
            <source>%Ln trials</source>
            <translation>
                <numerusform>%Ln trial</numerusform>
                <numerusform>%Ln trials</numerusform>
            </translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::Workspace</name>
        <message numerus="yes">
            <source>%n tasks</source>
            <translation>
                <numerusform>%n task</numerusform>
                <numerusform>%n tasks</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <source>%n functions not tuned</source>
            <translation>
                <numerusform>%n function not tuned</numerusform>
                <numerusform>%n functions not tuned</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <source>%n trials</source>
            <translation>
                <numerusform>%n trial</numerusform>
                <numerusform>%n trials</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <source>%n candidates</source>
            <translation>
                <numerusform>%n candidate</numerusform>
                <numerusform>%n candidates</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <source>%n passes</source>
            <translation>
                <numerusform>%n pass</numerusform>
                <numerusform>%n passes</numerusform>
            </translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::LatencyChart</name>
        <message numerus="yes">
            <source>and %n more</source>
            <translation>
                <numerusform>and %n more</numerusform>
                <numerusform>and %n more</numerusform>
            </translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::RoundModel</name>
        <message numerus="yes">
            <source>%n candidates were rejected before building: more threads or memory than the device has.</source>
            <translation>
                <numerusform>%n candidate was rejected before building: more threads or memory than the device has.</numerusform>
                <numerusform>%n candidates were rejected before building: more threads or memory than the device has.</numerusform>
            </translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::LogPreviewDialog</name>
        <message numerus="yes">
            <source>%n files</source>
            <translation>
                <numerusform>%n file</numerusform>
                <numerusform>%n files</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <source>%1: %Ln lines.</source>
            <translation>
                <numerusform>%1: %Ln line.</numerusform>
                <numerusform>%1: %Ln lines.</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <source>%Ln records are in the project already.</source>
            <translation>
                <numerusform>%Ln record is in the project already.</numerusform>
                <numerusform>%Ln records are in the project already.</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <source>%Ln lines will be skipped.</source>
            <translation>
                <numerusform>%Ln line will be skipped.</numerusform>
                <numerusform>%Ln lines will be skipped.</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <source>%Ln records were measured elsewhere by another tuner: exports use them only after they are measured again here.</source>
            <translation>
                <numerusform>%Ln record was measured elsewhere by another tuner: exports use it only after it is measured again here.</numerusform>
                <numerusform>%Ln records were measured elsewhere by another tuner: exports use them only after they are measured again here.</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <source>%Ln records will be imported (tasks: %1).</source>
            <translation>
                <numerusform>%Ln record will be imported (tasks: %1).</numerusform>
                <numerusform>%Ln records will be imported (tasks: %1).</numerusform>
            </translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::ParallelView</name>
        <message numerus="yes">
            <source>%Ln trials.</source>
            <translation>
                <numerusform>%Ln trial.</numerusform>
                <numerusform>%Ln trials.</numerusform>
            </translation>
        </message>
        <message numerus="yes">
            <source>%Ln trials, %1 of them failed.</source>
            <translation>
                <numerusform>%Ln trial, %1 of them failed.</numerusform>
                <numerusform>%Ln trials, %1 of them failed.</numerusform>
            </translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::LayoutFigureModel</name>
        <message numerus="yes">
            <source>The default schedules of %Ln functions were not measured under the same conditions</source>
            <translation>
                <numerusform>The default schedule of %Ln function was not measured under the same conditions</numerusform>
                <numerusform>The default schedules of %Ln functions were not measured under the same conditions</numerusform>
            </translation>
        </message>
    </context>
    <context>
        <name>lathe::ui::LayoutsPanel</name>
        <message numerus="yes">
            <source>The times of %Ln conversions are estimates.</source>
            <translation>
                <numerusform>The time of %Ln conversion is an estimate.</numerusform>
                <numerusform>The times of %Ln conversions are estimates.</numerusform>
            </translation>
        </message>
    </context>
</TS>
